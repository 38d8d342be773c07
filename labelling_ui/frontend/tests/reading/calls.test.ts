import { describe, expect, it } from "vitest";
import { editOf, isMessage, languageOf, partsOf, type Call } from "../../src/reading/calls";
import { editLines, isUnified, unifiedDiff } from "../../src/reading/diffs";
import { jsonLines, unquoted } from "../../src/reading/json";
import { linesIn, linesOf, sourceOffset } from "../../src/reading/source";

const callsIn = (text: string): Call[] => partsOf(text).filter((part) => part.type === "call");

describe("a step that calls tools", () => {
  it("is what was said, then each call with its name and arguments", () => {
    const text = 'I look it up.\nsearch({"query_list": ["a", "b"], "top": 3})\nBash({"command": "ls -la\\npwd"})';
    expect(partsOf(text).map((part) => (part.type === "call" ? part.name.text : part.text.text.trim()))).toEqual([
      "I look it up.",
      "search",
      "Bash",
    ]);
    const [search, bash] = callsIn(text);
    expect(search!.members.map(({ name, value }) => [name.text, value.text])).toEqual([
      ["query_list", '["a", "b"]'],
      ["top", "3"],
    ]);
    expect(unquoted(bash!.members[0]!.value).text).toBe("ls -la\npwd");
    expect(languageOf(bash!, bash!.members[0]!)).toBe("bash");
  });

  it("may call with brackets, braces and quotes inside of what it says", () => {
    const [call] = callsIn('write({"text": "f(x) { \\"}\\" })"})');
    expect(unquoted(call!.members[0]!.value).text).toBe('f(x) { "}" })');
  });

  it("keeps as given what is no object", () => {
    expect(callsIn('Bash({"command": broken)')).toMatchObject([{ members: [], argument: { text: '{"command": broken' } }]);
    expect(callsIn("finish()")).toMatchObject([{ members: [], argument: { text: "" } }]);
  });

  it("is prose, or a command of a shell, where no call is found", () => {
    expect(partsOf("ls -la (here)")).toMatchObject([{ type: "prose" }]);
  });

  it("is a message, and no command of a shell, if it begins with a tag or a heading", () => {
    const texts = ["<think>I'll search.</think>\n<tool_call> Peru </tool_call>", "Action: search[Peru]", "ls -la", "cat <<EOF"];
    expect(texts.map(isMessage)).toEqual([true, true, false, false]);
  });

  it("knows the language of a file by the name that the call gives it", () => {
    const [call] = callsIn('Write({"file_path": "/app/a.R", "content": "x <- 1"})');
    expect(languageOf(call!, call!.members[1]!)).toBe("R");
  });
});

describe("a query", () => {
  it("is coloured as SQL if it begins as a statement does, and is words otherwise", () => {
    const languages = ["SELECT name\nFROM t", "with x as (select 1) select *", "with whom", "Peru's capital"].map((query) => {
      const [call] = callsIn(`search(${JSON.stringify({ query })})`);
      return languageOf(call!, call!.members[0]!);
    });
    expect(languages).toEqual(["sql", "sql", "", ""]);
  });
});

describe("an edit", () => {
  it("is shown as what it takes out and puts in", () => {
    const [call] = callsIn('Edit({"file_path": "a.py", "old_string": "a = 1\\nb = 2\\n", "new_string": "a = 1\\nb = 3\\n"})');
    const { before, after } = editOf(call!)!;
    expect(editLines(before, after).map((line) => `${line.sign}${line.text}`)).toEqual([" a = 1", "-b = 2", "+b = 3", " "]);
  });

  it("in the unified format has its lines marked, and a list with dashes is none", () => {
    const text = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
    expect(isUnified(text)).toBe(true);
    expect(unifiedDiff(linesIn(text)).map((line) => line.change)).toEqual([
      "meta", "meta", "hunk", undefined, "removed", "added",
    ]);
    expect(isUnified("- one\n- two\n+ three")).toBe(false);
  });
});

describe("JSON that came back", () => {
  it("is laid out, line by line a piece of the text", () => {
    const text = '{"result": [{"id": 1, "contents": "Melbourne\\nis \\"big\\" and this makes the line a long one, which is broken"}], "ok": true}';
    const lines = jsonLines({ text, from: 0 })!;
    expect(lines.map((line) => [line.depth, line.text])).toEqual([
      [0, '{'],
      [1, '"result": ['],
      [2, '{'],
      [3, '"id": 1,'],
      [3, '"contents": "Melbourne\nis \\"big\\" and this makes the line a long one, which is broken"'],
      [2, '}'],
      [1, '],'],
      [1, '"ok": true'],
      [0, '}'],
    ]);
    const contents = lines[4]!;
    const big = contents.text.indexOf("big");
    expect(text.slice(sourceOffset(contents, big), sourceOffset(contents, big + 3))).toBe("big");
  });

  it.each(["", "plain", "{broken", '{"a": 1} and more', "[1, 2", "{]"])("is left alone where it is none: %s", (text) => {
    expect(jsonLines({ text, from: 0 })).toBeNull();
  });
});

describe("lines", () => {
  it("of an escaped text keep their places", () => {
    const written = '"a\\nb\\"c\\n\\td"';
    const lines = linesOf(unquoted({ text: written, from: 0 }));
    expect(lines.map((line) => line.text)).toEqual(["a", 'b"c', "\td"]);
    expect(lines.map((line) => written[sourceOffset(line, line.text.length - 1)])).toEqual(["a", "c", "d"]);
  });
});
