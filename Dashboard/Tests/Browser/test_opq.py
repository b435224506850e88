#!/usr/bin/env python3
"""Tests of the pages of opq in headless Chromium: python3 test_opq.py OPQ [--shots DIRECTORY] [NAME…]

OPQ is the program in a build with the trait Dashboard. Each function whose name begins with `test_` is a test.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile

from selenium.webdriver.common.by import By

from browser import browser, errors, layout, resize, run_tests, scheme, until

BINARY = os.path.abspath(sys.argv[1])
SHOTS = sys.argv[sys.argv.index("--shots") + 1] if "--shots" in sys.argv else None

WORKFLOW = """
name: release
queues:
  files: { concurrency: 2 }
operations:
  fetch:
    run: for i in 1 2 3 4 5 6; do echo "part $i <b>of</b> 6"; sleep 0.5; done
  notes: { run: "sleep 0.3; echo notes" }
  compress: { each: [a, b, c, d, e], queue: files, after: fetch, run: "sleep 0.4; echo {item}" }
  broken: { run: "echo this is the reason; exit 3" }
  upload: { after: [compress, notes], run: "sleep 0.5" }
  announce: { after: broken, run: "true" }
"""


class Opq:
    """A running opq with a page, in a folder with a workflow."""

    def __init__(self, folder, *arguments):
        path = os.path.join(folder, "w.yml")
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as file:
                file.write(WORKFLOW)
        self.process = subprocess.Popen(
            [BINARY, *arguments, "w.yml"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.search(r"http://\S+", line)
        self.address = found.group() if found else None
        self.line = line

    def wait(self):
        status = self.process.wait(timeout=30)
        self.process.stderr.close()
        return status

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.wait()


def shot(driver, name):
    if SHOTS:
        driver.save_screenshot(f"{SHOTS}/opq-{name}.png")


def rows(driver):
    return "document.querySelectorAll('#rows tr').length"


def test_run_is_followed_to_its_end(driver):
    with tempfile.TemporaryDirectory() as folder:
        # A first run, so that the durations are known.
        subprocess.run([BINARY, "run", "--quiet", "w.yml"], cwd=make(folder), stdout=subprocess.DEVNULL, check=False)
        opq = Opq(folder, "run", "--serve", "--force")
        try:
            driver.get(opq.address)
            until(driver, "rows.textContent.includes('fetch')")
            notice = until(driver, "!stall.hidden && stall.textContent")
            assert "cannot end before fetch" in notice and "6 operations wait for it" in notice, notice
            assert "usually" in notice and "compress[" in notice and "upload" in notice, notice
            until(driver, "[...numbers.children].some(one => /^time left≈ [0-9]/.test(one.textContent))", what="time left")
            assert layout(driver) == [], layout(driver)
            shot(driver, "run")
            until(driver, "[...document.querySelectorAll('#rows tr')].some(row => /compress.*waits for fetch/.test(row.textContent))")
            click(driver, "fetch")
            first = until(driver, "detail.open && document.querySelector('#detail pre')?.textContent")
            until(driver, f"document.querySelector('#detail pre').textContent.length > {len(first)}", what="more output")
            assert "<b>of</b>" in driver.find_element(By.CSS_SELECTOR, "#detail pre").text
            assert "command" in driver.find_element(By.ID, "detail-body").text
            assert layout(driver) == [], layout(driver)
            shot(driver, "output")
            driver.find_element(By.ID, "detail-close").click()
            driver.find_element(By.ID, "tab-graph").click()
            until(driver, "document.querySelectorAll('#graph g').length === 10")
            shot(driver, "graph")
            driver.find_element(By.ID, "tab-timeline").click()
            until(driver, "span.textContent.includes('operations')")
            shot(driver, "timeline")
            driver.find_element(By.ID, "tab-operations").click()
            until(driver, "connection.textContent === 'the program has ended'", 20)
            assert opq.wait() == 1
            text = driver.find_element(By.ID, "numbers").text.split("\n")
            facts = dict(zip(text[::2], text[1::2]))
            assert (facts["done"], facts["failed"], facts["skipped"]) == ("8", "1", "1"), facts
            assert "took" in facts and errors(driver) == [], (facts, errors(driver))
            shot(driver, "ended")
        finally:
            opq.end()


def make(folder):
    """Writes the workflow, and returns the folder."""
    with open(os.path.join(folder, "w.yml"), "w", encoding="utf-8") as file:
        file.write(WORKFLOW)
    return folder


def click(driver, name):
    """Opens the operation of this name."""
    [button for button in driver.find_elements(By.CSS_SELECTOR, "#rows button") if button.text == name][0].click()


def test_page_stays_until_control_c(driver):
    with tempfile.TemporaryDirectory() as folder:
        opq = Opq(folder, "run", "--serve", "--stay", "--quiet")
        try:
            driver.get(opq.address)
            until(driver, "[...numbers.children].some(one => one.textContent.startsWith('took'))", 20)
            click(driver, "broken")
            until(driver, "detail.open && document.querySelector('#detail pre')?.textContent === 'this is the reason\\n'")
            assert "exit 3" in driver.find_element(By.ID, "detail-body").text
            driver.find_element(By.ID, "detail-close").click()
            for width in (320, 760, 1600):
                for dark in (False, True):
                    resize(driver, width, 900)
                    scheme(driver, dark)
                    for tab in ("operations", "timeline", "graph"):
                        driver.find_element(By.ID, "tab-" + tab).click()
                        until(driver, f"!document.getElementById('view-{tab}').hidden")
                        assert layout(driver) == [], (width, dark, tab, layout(driver))
                        shot(driver, f"stay-{width}-{'dark' if dark else 'light'}-{tab}")
            assert opq.process.poll() is None
            opq.process.send_signal(signal.SIGINT)
            assert opq.wait() == 1, "the status is that of the run"
        finally:
            resize(driver, 1280, 800)
            scheme(driver, False)
            opq.end()


def test_control_c_during_the_run_ends_it_and_the_page(driver):
    with tempfile.TemporaryDirectory() as folder:
        opq = Opq(folder, "run", "--serve", "--stay")
        try:
            driver.get(opq.address)
            until(driver, "rows.textContent.includes('running')")
            opq.process.send_signal(signal.SIGINT)
            assert opq.wait() == -signal.SIGINT
            until(driver, "connection.textContent === 'the program has ended'")
            assert "cancelled" in driver.find_element(By.ID, "numbers").text
        finally:
            opq.end()


def test_past_runs(driver):
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            subprocess.run([BINARY, "run", "--quiet", "w.yml"], cwd=make(folder), stdout=subprocess.DEVNULL, check=False)
        opq = Opq(folder, "show", "--serve")
        try:
            driver.get(opq.address)
            until(driver, "document.querySelectorAll('#sources li').length === 2")
            assert driver.find_element(By.ID, "title").text.startswith("run 2, "), driver.find_element(By.ID, "title").text
            until(driver, rows(driver) + " === 10")
            assert [tab.text for tab in driver.find_elements(By.CSS_SELECTOR, "#tabs button")] == ["Operations"]
            click(driver, "broken")
            until(driver, "detail.open && document.querySelector('#detail pre')?.textContent === 'this is the reason\\n'")
            assert layout(driver) == [], layout(driver)
            driver.find_element(By.ID, "detail-close").click()
            shot(driver, "past")
            assert errors(driver) == [], errors(driver)
        finally:
            opq.end()


def test_used_port_runs_nothing(_):
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as taken:
        opq = Opq(folder, "run", "--serve", str(taken.getsockname()[1]))
        assert opq.address is None and "cannot listen on port" in opq.line, opq.line
        assert opq.wait() == 2


if __name__ == "__main__":
    run_tests(globals(), browser(), lambda driver, name: shot(driver, "failed-" + name))
