"""What the browser keeps of the workbench, whichever of its stores has it."""

from playwright.sync_api import Page

KEYS = """async () => {
    const stored = Object.entries(localStorage).filter(([, text]) => text !== "").map(([key]) => key);
    const name = "stepmark";
    if (!window.indexedDB || !(await indexedDB.databases()).some((one) => one.name === name)) return stored;
    const keys = await new Promise((resolve) => {
        const opened = indexedDB.open(name);
        opened.onsuccess = () => {
            const asked = opened.result.transaction("texts").objectStore("texts").getAllKeys();
            asked.onsuccess = () => {
                opened.result.close();
                resolve(asked.result);
            };
        };
    });
    return [...new Set([...stored, ...keys])];
}"""


def kept_in_browser(page: Page) -> list[str]:
    """The keys of drafts and of finished work that a page opened now would find."""
    keys: list[str] = page.evaluate(KEYS)
    return [key for key in keys if not key.startswith("stepmark:sitting:")]
