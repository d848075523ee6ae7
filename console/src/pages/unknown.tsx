import { link } from '../base_path';
import { useTitle } from '../shell/crumbs';
import { Empty } from '../ui/states';
import { words } from '../words';

export default function UnknownPage() {
  const t = words.value.unknown;
  useTitle(t.title);
  return (
    <main class="main" id="main">
      <h1 class="vh">{t.title}</h1>
      <Empty icon="search" title={t.title}>
        <p>{t.text}</p>
        <p class="row">
          <a class="btn is-primary" href={link('/')}>
            {words.value.nav.home}
          </a>
          <a class="btn" href={link('/instances')}>
            {words.value.nav.instances}
          </a>
        </p>
      </Empty>
    </main>
  );
}
