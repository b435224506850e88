#!/usr/bin/env python3
"""Tests of the page in headless Chromium: python3 test_page.py LIVE [--shots DIRECTORY] [NAME…]

LIVE is the built program of Examples/Live. Each function whose name begins with `test_` is a test. Needs Debian's `chromium` and
`chromium-driver`, and `selenium`.
"""

import os
import subprocess
import sys
import tempfile
import time

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import Live, browser, errors, layout, resize, run_tests, scheme, until

BINARY = sys.argv[1]
SHOTS = sys.argv[sys.argv.index("--shots") + 1] if "--shots" in sys.argv else None


def opened(driver, *arguments, port=0):
    """Opens the page of a new Live."""
    live = Live(BINARY, *arguments, port=port)
    driver.get(live.address)
    until(driver, "document.querySelectorAll('#rows tr').length > 0", what="rows")
    return live


def shot(driver, name):
    if SHOTS:
        driver.save_screenshot(f"{SHOTS}/{name}.png")


def choose(driver, name):
    for button in driver.find_elements(By.CSS_SELECTOR, "#sources button"):
        if button.text.startswith(name):
            button.click()
            until(driver, f"document.querySelectorAll('#rows tr').length > 0 && title.textContent.startsWith({name!r})")
            return
    raise AssertionError(f"no queue {name}")


def test_load_hides_the_token_and_has_no_error(driver):
    live = opened(driver)
    assert "token" not in driver.current_url, driver.current_url
    assert driver.execute_script("return document.cookie") == "", "a script can read the token"
    assert errors(driver) == [], errors(driver)
    return live


def test_live_update(driver):
    live = opened(driver)
    until(driver, "Number(numbers.children[3].lastChild.textContent) > 3", what="operations end while the page is open")
    until(driver, "connection.textContent === 'live'")
    return live


def test_filter_and_pages(driver):
    live = opened(driver, "--waiting", "1000")
    choose(driver, "many")
    until(driver, "range.textContent === '1–100 of 1,001'")
    driver.find_element(By.ID, "next").click()
    until(driver, "range.textContent === '101–200 of 1,001'")
    driver.find_element(By.ID, "text").send_keys("item 99")
    until(driver, "range.textContent === '1–11 of 11'")
    driver.find_element(By.CSS_SELECTOR, "#state option[value=running]").click()
    until(driver, "range.textContent === 'no operations'")
    return live


def test_detail_explains(driver):
    live = opened(driver, "--stalled")
    choose(driver, "stalled")
    assert "root: TaskOperation 'login'" in driver.find_element(By.ID, "stall").text
    driver.find_element(By.CSS_SELECTOR, "#rows button").click()
    until(driver, "detail.open")
    assert "in no queue" in driver.find_element(By.ID, "detail-body").text
    shot(driver, "detail")
    driver.find_element(By.ID, "detail-close").click()
    return live


def test_steer(driver):
    live = opened(driver, "--waiting", "10", "--steer")
    choose(driver, "many")
    driver.find_element(By.ID, "suspend").click()
    until(driver, "suspend.textContent === 'Resume'")
    field = driver.find_element(By.ID, "limit")
    field.send_keys("3")
    driver.find_element(By.ID, "set-limit").click()
    until(driver, "[...numbers.children].some(one => one.textContent === 'limit3')")
    boxes = driver.find_elements(By.CSS_SELECTOR, "#rows input[type=checkbox]")
    boxes[3].click()
    boxes[4].click()
    until(driver, "selection.firstChild.textContent === '2 selected'")
    shot(driver, "steer")
    driver.find_element(By.CSS_SELECTOR, "#selection button.danger").click()
    until(driver, "message.textContent === 'Done for 2 operations.'")
    driver.find_element(By.ID, "suspend").click()
    until(driver, "Number(numbers.children[5].lastChild.textContent) === 2", what="two cancelled operations")
    return live


def test_steering_is_off_by_default(driver):
    live = opened(driver)
    assert driver.find_elements(By.CSS_SELECTOR, "#rows input") == []
    assert not driver.find_element(By.ID, "controls").is_displayed()
    return live


def test_reconnect_after_a_restart(driver):
    live = opened(driver, "--token", "fixed")
    port = live.port
    live.end()
    until(driver, "connection.className === 'lost'")
    shot(driver, "lost")
    live = Live(BINARY, "--token", "fixed", port=port)
    until(driver, "connection.className === 'live'", 15)
    return live


def test_keyboard_only(driver):
    live = opened(driver, "--stalled", "--steer")
    body = driver.find_element(By.TAG_NAME, "body")
    seen = []
    for _ in range(40):
        driver.switch_to.active_element.send_keys(Keys.TAB)
        focus = driver.switch_to.active_element
        seen.append(focus.get_attribute("id") or focus.tag_name)
        if focus.get_attribute("id") == "tab-operations":
            break
    assert "tab-operations" in seen and "suspend" in seen, seen
    driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    until(driver, "document.activeElement.id === 'tab-timeline' && !document.getElementById('view-timeline').hidden")
    driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    until(driver, "document.querySelectorAll('#graph g').length > 0")
    driver.execute_script("document.querySelector('#graph g').focus()")
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    until(driver, "detail.open")
    driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    until(driver, "!detail.open")
    assert body is not None
    return live


def test_hostile_names_stay_text(driver):
    live = opened(driver, "--hostile")
    choose(driver, "<script>")
    until(driver, "document.querySelectorAll('#rows tr').length === 4")
    assert driver.title == "Operations", driver.title
    assert driver.find_elements(By.CSS_SELECTOR, "main img") == []
    for tab in ("timeline", "graph"):
        driver.find_element(By.ID, "tab-" + tab).click()
        time.sleep(0.3)
    assert driver.title == "Operations" and errors(driver) == [], (driver.title, errors(driver))
    assert layout(driver) == [], layout(driver)
    shot(driver, "hostile")
    return live


def test_durable_store(driver):
    with tempfile.TemporaryDirectory() as folder:
        live = opened(driver, "--store", folder + "/work.db", "--steer")
        try:
            choose(driver, "photos")
            until(driver, "Number(numbers.children[4].lastChild.textContent) > 0", what="failed operations")
            for tab, text in (("queues", "archive"), ("workers", "photos"), ("schedules", "nightly")):
                driver.find_element(By.ID, "tab-" + tab).click()
                until(driver, f"document.getElementById({tab!r}).textContent.includes({text!r})")
                assert layout(driver) == [], layout(driver)
                shot(driver, "durable-" + tab)
            driver.find_element(By.ID, "tab-operations").click()
            driver.find_element(By.CSS_SELECTOR, "#state option[value=failed]").click()
            until(driver, "rows.textContent.includes('the photo is unreadable')")
            assert "broken" not in driver.page_source, "the input of an operation is on the page"
            driver.find_element(By.CSS_SELECTOR, "#rows button").click()
            until(driver, "detail.open")
            assert layout(driver) == [], layout(driver)
            shot(driver, "durable-detail")
            [button for button in driver.find_elements(By.CSS_SELECTOR, "#detail-controls button") if button.text == "Retry"][0].click()
            until(driver, "message.textContent === 'Done for 1 operation.'")
            assert errors(driver) == [], errors(driver)
        finally:
            live.end()


def test_program_of_durable_serve(driver):
    program = os.path.join(os.path.dirname(os.path.abspath(BINARY)), "durable-serve")
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/work.db"
        environment = {"DURABLE_STORE": path}
        for arguments, variables, status in ((["--port"], environment, 2), ([], {}, 2), (["--port", "0"], environment, 3)):
            assert subprocess.run([program, *arguments], env=variables, stderr=subprocess.DEVNULL, check=False).returncode == status
        assert not os.path.exists(path), "a store was created"
        opened(driver, "--store", path).end()
        served = Live(program, "--port", "0", "--steer", environment=environment)
        try:
            driver.get(served.address)
            until(driver, "title.textContent.endsWith('work.db')")
            driver.find_element(By.ID, "tab-queues").click()
            until(driver, "document.querySelectorAll('#queues tr').length === 3")
            [button for button in driver.find_elements(By.CSS_SELECTOR, "#queues button") if button.text == "Suspend"][0].click()
            until(driver, "document.getElementById('queues').textContent.includes('suspended')")
            assert errors(driver) == [], errors(driver)
        finally:
            served.end()


def test_program_that_ends(driver):
    live = opened(driver, "--end-after", "1")
    until(driver, "connection.textContent === 'the program has ended'")
    assert live.process.wait(timeout=5) == 0
    return live


def test_sizes_and_modes(driver):
    live = opened(driver, "--stalled", "--steer", "--waiting", "1000")
    time.sleep(2.5)
    faults = []
    for width in (320, 480, 760, 1000, 1600):
        resize(driver, width, 900)
        for dark in (False, True):
            scheme(driver, dark)
            for name in ("pages", "stalled"):
                choose(driver, name)
                for tab in ("operations", "timeline", "graph"):
                    driver.find_element(By.ID, "tab-" + tab).click()
                    time.sleep(0.2)
                    place = f"{width}-{'dark' if dark else 'light'}-{name}-{tab}"
                    faults += [f"{place}: {fault}" for fault in layout(driver)]
                    shot(driver, place)
    resize(driver, 1280, 800)
    scheme(driver, False)
    assert faults == [], "\n".join(faults)
    return live


def test_many_operations(driver):
    figures = []
    for count in (10, 1000, 100_000):
        live = Live(BINARY, "--waiting", str(count), port=0)
        try:
            begin = time.monotonic()
            driver.get(live.address)
            until(driver, "document.querySelectorAll('#rows tr').length > 0")
            loaded = time.monotonic() - begin
            choose(driver, "many")
            until(driver, f"range.textContent.endsWith('of {count + 1:,}')")
            frames = int(driver.execute_script("return document.documentElement.dataset.frames"))
            until(driver, f"document.documentElement.dataset.frames > {frames}", 60, what="further frames")
            cost = float(driver.execute_script("return document.documentElement.dataset.cost"))
            heap = driver.execute_script("return performance.memory.usedJSHeapSize") / 1e6
            paint = driver.execute_script("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
            figures.append(f"{count}: rows {loaded:.2f} s, first paint {paint:.0f} ms, script of an update {cost} ms, "
                           f"heap {heap:.0f} MB, server {live.memory() / 1e6:.0f} MB")
            assert cost <= 16 and paint <= 1000 and heap <= 60, figures[-1]
            assert len(driver.find_elements(By.CSS_SELECTOR, "#rows tr")) <= 100
            driver.find_element(By.ID, "tab-graph").click()
            until(driver, "document.querySelectorAll('#graph g').length > 0", 60)
            assert len(driver.find_elements(By.CSS_SELECTOR, "#graph g")) <= 200
        finally:
            live.end()
    print("    " + "\n    ".join(figures))


if __name__ == "__main__":
    run_tests(globals(), browser(), lambda driver, name: shot(driver, "failed-" + name))
