// An empty line within a result is written as <BLANKLINE>, for doctest.
for (const line of document.querySelectorAll(".highlight .go"))
  if (line.textContent.trim() === "<BLANKLINE>") line.textContent = "";

// Copy what is typed: of a block with prompts, the input without prompts and without results.
for (const code of document.querySelectorAll(".highlight pre > code")) {
  if (!code.querySelector(".gp")) continue;
  const typed = [];
  for (const line of code.textContent.split("\n"))
    if (/^(>>>|\.\.\.)( |$)/.test(line)) typed.push(line.slice(4));
  const text = typed.join("\n") + "\n";
  code.closest(".highlight").setAttribute("data-copy", text);
  code.closest("pre").addEventListener("copy", event => {
    const chosen = window.getSelection().toString();
    const lines = chosen.split("\n").filter(line => /^(>>>|\.\.\.)( |$)/.test(line));
    if (!lines.length) return;
    event.clipboardData.setData("text/plain", lines.map(line => line.slice(4)).join("\n"));
    event.preventDefault();
  });
}

// Wide tables can be scrolled by keyboard, and say so.
for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) {
  if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
}
