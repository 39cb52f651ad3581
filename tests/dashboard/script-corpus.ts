import type { BrowserContext, Page } from 'playwright-core'

/** Texts that are scripts, pictures or pages where a page takes them for HTML, Markdown or a template. */
export const corpus = [
  '<script>tollgateRan(1)</script>',
  '<img src=x onerror=tollgateRan(2)>',
  '"><svg onload=tollgateRan(3)>',
  `'-tollgateRan(4)-'`,
  'javascript:tollgateRan(5)',
  '<iframe src="https://evil.example/f"></iframe>',
  '<img src="https://evil.example/b.png">',
  '![x](https://evil.example/m.png)',
  '[click](javascript:tollgateRan(9))',
  '<a href="javascript:tollgateRan(10)">click</a>',
  '<style>@import "https://evil.example/s.css"</style>',
  '<link rel=stylesheet href=https://evil.example/l.css>',
  '<base href="https://evil.example/">',
  '<meta http-equiv=refresh content="0;url=https://evil.example/">',
  '<form action="https://evil.example/"><button>x</button></form>',
  `{{constructor.constructor('tollgateRan(16)')()}}`,
  '${tollgateRan(17)}',
  '<math><mtext></table></math><img src onerror=tollgateRan(18)>',
  '<details open ontoggle=tollgateRan(19)>x</details>',
  '</textarea></title><script>tollgateRan(20)</script>',
] as const

/** What only Markdown makes of texts. */
export const markdown = [
  ...corpus,
  '![x][beacon]\n\n[beacon]: https://evil.example/reference.png',
  '[![x](https://evil.example/inner.png)](https://evil.example/outer)',
  '<https://evil.example/auto> and <javascript:tollgateRan(21)>',
  '[data](data:text/html,<script>tollgateRan(22)</script>)',
  '[spaced]( java\tscript:tollgateRan(23))',
  '[vb](vbscript:tollgateRan(24)) [file](file:///etc/passwd)',
  '| a |\n|---|\n| <img src="https://evil.example/table.png"> |',
  '<picture><source srcset="https://evil.example/set.png"><img></picture>',
  '<video poster="https://evil.example/poster.png" src="https://evil.example/v.mp4" autoplay></video>',
] as const

/** Whether a text holds some of it. */
export const isOfCorpus = (text: string) => /tollgateRan|evil\.example/.test(text)

/** What a browser did, or was kept from, that none of our pages has a reason for. */
export interface Watch {
  ran: string[]
  /** Requests to any host but the gateway. */
  foreign: string[]
  /** What the content security policy refused, by directive. */
  refused: string[]
}

/** Has every page of a browser told on, from its first line on. */
export async function watched(context: BrowserContext, address: string): Promise<Watch> {
  const watch: Watch = { ran: [], foreign: [], refused: [] }
  await context.exposeFunction('tollgateRan', (what: unknown) => watch.ran.push(String(what)))
  await context.exposeFunction('tollgateRefused', (what: unknown) =>
    watch.refused.push(String(what)),
  )
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', (event) =>
      tollgateRefused(event.effectiveDirective + ' ' + event.blockedURI))`,
  )
  context.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(address) && !url.startsWith('data:image/')) watch.foreign.push(url)
  })
  context.on('dialog', (dialog) => {
    watch.ran.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return watch
}

/** Elements that no page of ours has, and that each text of the corpus would make. */
const foreignElements = [
  'a[href^="javascript:" i], a[href^="data:" i], a[href^="vbscript:" i], a[href^="file:" i]',
  'iframe, object, embed, base, video, audio, form[action^="http"]',
  'img:not([src^="/"]), link[href*="evil.example"], meta[http-equiv=refresh]',
  '[onerror], [onload], [ontoggle]',
].join(', ')

/** The ones that a page has nevertheless. */
export const findInjected = (page: Page): Promise<string[]> =>
  page.locator(foreignElements).evaluateAll((found) => found.map((one) => one.outerHTML))
