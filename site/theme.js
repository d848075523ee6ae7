// Before the first paint: the theme that the reader chose last.
try { const theme = localStorage.getItem('docs-theme'); if (theme) document.documentElement.dataset.theme = theme; } catch { /* no storage */ }
