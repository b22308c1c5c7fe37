"use strict";
(() => {
  // Copying: a button beside whatever may be wanted elsewhere.
  for (const button of document.querySelectorAll("[data-copy]")) {
    const source = document.getElementById(button.dataset.copy);
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(source.textContent);
      } catch {
        getSelection().selectAllChildren(source);
        document.execCommand("copy");
      }
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }

  // Values under the pointer, or under the arrow keys: they are the row of the
  // table behind the chart, so the page has them once.
  for (const chart of document.querySelectorAll("svg[data-table]")) {
    const rows = document.getElementById(chart.dataset.table).tBodies[0].rows;
    const out = chart.parentElement.querySelector(".readout");
    const left = +chart.dataset.left / 100, right = +chart.dataset.right / 100, column = +chart.dataset.column;
    const width = chart.viewBox.baseVal.width, height = chart.viewBox.baseVal.height;
    const line = document.createElementNS(chart.namespaceURI, "path");
    line.setAttribute("class", "cursor");
    chart.append(line);
    chart.setAttribute("aria-label", chart.querySelector("title").textContent);
    chart.removeAttribute("aria-labelledby");
    chart.querySelector("title").remove(); // it would cover the values
    chart.setAttribute("tabindex", "0");
    out.hidden = false;
    let at = -1;
    const show = (row) => {
      at = Math.max(0, Math.min(rows.length - 1, row));
      const x = width * (left + (right - left) * (at + 0.5) / rows.length);
      line.setAttribute("d", `M${x} 30V${height - 24}`);
      const cells = rows[at].cells;
      out.textContent = `at ${cells[0].textContent}: ${cells[column].textContent} offered, ${cells[column + 1].textContent} answered, ${cells[column + 2].textContent} attempts`;
    };
    const hide = () => { line.removeAttribute("d"); out.textContent = ""; };
    chart.addEventListener("pointermove", (e) => {
      const box = chart.getBoundingClientRect();
      const share = ((e.clientX - box.left) / box.width - left) / (right - left);
      if (share < 0 || share > 1) { hide(); } else { show(Math.floor(share * rows.length)); }
    });
    chart.addEventListener("pointerleave", hide);
    chart.addEventListener("blur", hide);
    chart.addEventListener("keydown", (e) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      if (step) { show(at + step); e.preventDefault(); }
    });
  }
})();
