import { gzipSync } from 'node:zlib'
import { Hono } from 'hono'
import type { Env } from './env'
import type { Guards } from './guards'

/** A file of the dashboard, uncompressed and compressed as most browsers accept it. */
export interface DashboardFile {
  type: string
  bytes: Buffer
  zipped: Buffer
}

/** Files by their paths, `index.html` among them. */
export type DashboardFiles = ReadonlyMap<string, DashboardFile>

export const toDashboardFile = (type: string, bytes: Buffer): DashboardFile => ({
  type,
  bytes,
  zipped: gzipSync(bytes, { level: 9 }),
})

/** Content-Security-Policy of pages: only this service. Components set styles. */
const policy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  // Sound that a page has made or was given, which it plays.
  "media-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const headers = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  vary: 'accept-encoding',
}

/** File names change with their content. */
const immutable = 'public, max-age=31536000, immutable'

/** Paths that are never pages, even when a browser opens them. */
const otherPaths = /^\/(api|v1|scim|docs|assets|healthz|readyz|metrics|gateway|openapi\.json)(\/|$)/

/** Serves the dashboard's files, and its first page for every path of its own. */
export const dashboardRoutes = (files: () => Promise<DashboardFiles>, { open }: Guards) =>
  new Hono<Env>().get('*', open, async (c, next) => {
    const { path } = c.req
    const isPage = !otherPaths.test(path) && c.req.header('accept')?.includes('text/html')
    if (!isPage && !path.startsWith('/assets/')) return next()
    const assets = await files()
    const file = assets.get(isPage ? '/index.html' : path)
    if (!file) return next()
    const isZipped = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
    return c.body(new Uint8Array(isZipped ? file.zipped : file.bytes), 200, {
      ...headers,
      'content-type': file.type,
      'cache-control': isPage ? 'no-cache' : immutable,
      ...(isZipped && { 'content-encoding': 'gzip' }),
    })
  })
