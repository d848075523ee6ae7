// The elements for other pages: <cairn-diagram> and <cairn-inbox>. docs/console/embed.md has an example.
import { DiagramElement } from './diagram_element';
import { InboxElement } from './inbox_element';

if (!customElements.get('cairn-diagram')) customElements.define('cairn-diagram', DiagramElement);
if (!customElements.get('cairn-inbox')) customElements.define('cairn-inbox', InboxElement);
