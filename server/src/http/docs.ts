import { Hono } from 'hono'
// Paths on the disk or in the executable.
import scriptPath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import type { Env } from './env'
import type { Guards } from './guards'
import { ApiError } from '../errors'

interface Asset {
  type: string
  path: string
}

const assets: ReadonlyMap<string, Asset> = new Map([
  ['swagger-ui.css', { type: 'text/css; charset=utf-8', path: stylePath }],
  ['swagger-ui-bundle.js', { type: 'text/javascript; charset=utf-8', path: scriptPath }],
])

const pageOf = (audience: 'public' | 'operator') => {
  const suffix = audience === 'operator' ? '-operator' : ''
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/theme.css">
<div id="docs"></div>
<noscript>This page needs JavaScript; /openapi${suffix}.json says the same without.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start${suffix}.js"></script>
`
}

const startOf = (description: string) => `const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

SwaggerUIBundle({
  url: '${description}',
  dom_id: '#docs',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  persistAuthorization: false,
})
`

/**
 * There is one server and there are no links between operations, so both are hidden. The colours replace those of
 * Swagger UI that lack contrast.
 */
const theme = `:root { color-scheme: light dark; --green: #17774a; --blue: #1a66c2 }
body { margin: 0 }
noscript { padding: 20px }
.swagger-ui .info { margin: 30px 0 }
.swagger-ui .servers-title, .swagger-ui .servers, .swagger-ui .response-col_links { display: none }
.swagger-ui .scheme-container { padding: 15px 0 }
.swagger-ui .responses-table .response-col_status { width: 3em }
.swagger-ui .response-col_description__inner ul { margin: 0; padding-left: 1.2em }
@media (prefers-color-scheme: light) {
  .swagger-ui .info a, .swagger-ui .info .link .url { color: var(--blue) }
  .swagger-ui .info .title small { background: #5d6570 }
  .swagger-ui .info .title small.version-stamp { background: #4a7000 }
  .swagger-ui .btn.authorize { color: var(--green); border-color: var(--green) }
  .swagger-ui .btn.authorize svg { fill: var(--green) }
  .swagger-ui .btn.cancel { color: #b3261e; border-color: #b3261e }
  .swagger-ui .btn.execute { background: var(--blue); border-color: var(--blue) }
  .swagger-ui .opblock.opblock-post .opblock-summary-method { background: var(--green) }
  .swagger-ui .opblock.opblock-get .opblock-summary-method { background: var(--blue) }
  .swagger-ui .download-contents { background: #565c6b }
  .swagger-ui .json-schema-2020-12-expand-deep-button { color: #5d6570 }
}
@media (prefers-color-scheme: dark) {
  html { background: #1c2022 }
  .swagger-ui .examples-select__section-label { color: #e4e6e6 }
}
@media (max-width: 600px) {
  .swagger-ui .wrapper, .swagger-ui .responses-inner { padding: 0 10px }
  .swagger-ui .auth-wrapper { justify-content: flex-start }
}
`

const own: ReadonlyMap<string, readonly [type: string, text: string]> = new Map([
  ['operator', ['text/html; charset=utf-8', pageOf('operator')]],
  ['start.js', ['text/javascript; charset=utf-8', startOf('/openapi.json')]],
  ['start-operator.js', ['text/javascript; charset=utf-8', startOf('/openapi-operator.json')]],
  ['theme.css', ['text/css; charset=utf-8', theme]],
])

/** Content-Security-Policy: this service only. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"

/**
 * `/docs`: the API reference, from files of this installation; `/docs/operator` is the operators'.
 */
export const docsRoutes = (guards: Guards) =>
  new Hono<Env>()
    .get('/docs', guards.open, () => served(pageOf('public'), 'text/html; charset=utf-8'))
    .get('/docs/:file', guards.open, (c) => {
      const name = c.req.param('file')
      const [type, text] = own.get(name) ?? []
      if (type && text) return served(text, type)
      const asset = assets.get(name)
      if (!asset) throw new ApiError('resource_not_found')
      return served(Bun.file(asset.path), asset.type)
    })

const served = (body: string | Blob, type: string) =>
  new Response(body, {
    headers: {
      'content-type': type,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    },
  })
