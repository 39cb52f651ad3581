import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Hono } from 'hono'
import type { Env } from './env'
import type { Guards } from './guards'
import { ApiError } from '../errors'

const assets: ReadonlyMap<string, string> = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
])

const folder = join(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')), '..')

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/theme.css">
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
`

const start = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  persistAuthorization: false,
})
`

const theme = `:root { color-scheme: light dark }
body { margin: 0 }
.swagger-ui .topbar, .swagger-ui .scheme-container .schemes > label { display: none }
@media (prefers-color-scheme: dark) {
  html { background: #16181d }
  #docs { filter: invert(0.92) hue-rotate(180deg) }
  .swagger-ui .highlight-code, .swagger-ui .opblock-body pre { filter: invert(1) hue-rotate(180deg) }
}
`

const own: ReadonlyMap<string, readonly [type: string, text: string]> = new Map([
  ['start.js', ['text/javascript; charset=utf-8', start]],
  ['theme.css', ['text/css; charset=utf-8', theme]],
])

/** Nothing is loaded from anywhere else. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"

/** `/docs`: the description of the interface for people, from files of this installation. */
export const docsRoutes = (guards: Guards) =>
  new Hono<Env>()
    .get('/docs', guards.open, () => served(page, 'text/html; charset=utf-8'))
    .get('/docs/:file', guards.open, (c) => {
      const name = c.req.param('file')
      const [type, text] = own.get(name) ?? []
      if (type && text) return served(text, type)
      const assetType = assets.get(name)
      if (!assetType) throw new ApiError('resource_not_found')
      return served(Bun.file(join(folder, name)), assetType)
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
