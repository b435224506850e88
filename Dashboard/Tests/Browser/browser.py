"""A browser for tests of the page: headless Chromium with its driver, and the program Live."""

import json
import re
import subprocess
import sys
import tempfile
import time
import traceback

from selenium import webdriver
from selenium.webdriver.chrome.service import Service


class Live:
    """A running Live."""

    def __init__(self, binary, *arguments, port=None, environment=None):
        words = [binary, *([] if port is None else [str(port)]), *arguments]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment)
        line = self.process.stderr.readline()
        self.address = re.search(r"http://\S+", line).group()
        self.port = int(re.search(r":(\d+)/", self.address).group(1))

    def memory(self):
        """The resident memory in bytes."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.process.stderr.close()


def browser(dark=False, size=(1280, 800)):
    """A browser with a profile of its own."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                     "--no-first-run", f"--user-data-dir={tempfile.mkdtemp()}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    driver.set_script_timeout(20)
    resize(driver, *size)
    scheme(driver, dark)
    return driver


def resize(driver, width, height):
    """Sets the size of the page. A window cannot be narrower than 500 pixels."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


def scheme(driver, dark):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})


def until(driver, condition, seconds=10, what=None):
    """Evaluates JavaScript until it is true."""
    end = time.monotonic() + seconds
    while True:
        value = driver.execute_script("return (" + condition + ")")
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not true within {seconds} s: {what or condition}")
        time.sleep(0.05)


def errors(driver):
    """The errors in the console, without those of lost connections."""
    return [entry["message"] for entry in driver.get_log("browser")
            if entry["level"] == "SEVERE" and "ERR_" not in entry["message"]]


LAYOUT = open(__file__.replace("browser.py", "layout.js"), encoding="utf-8").read()


def layout(driver):
    """The places where the page breaks a rule: overflow, overlap, contrast below 4.5."""
    return json.loads(driver.execute_script(LAYOUT))


def run_tests(module, driver, shot):
    """Runs the tests of a module, or those that the command line names, and ends the process."""
    names = [name for name in sys.argv[2:] if name.startswith("test_")]
    tests = [(name, test) for name, test in module.items() if name.startswith("test_") and (not names or name in names)]
    failed = 0
    for name, test in tests:
        begin = time.monotonic()
        live = None
        try:
            errors(driver)
            live = test(driver)
            print(f"passed {name} ({time.monotonic() - begin:.1f} s)", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            traceback.print_exc(limit=3)
            shot(driver, name)
            print(f"FAILED {name}", flush=True)
        finally:
            if live:
                live.end()
    driver.quit()
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
