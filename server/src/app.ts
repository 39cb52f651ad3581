import { Hono } from 'hono'
import type { Logger } from 'pino'
import { accountEndpoints, type AccountStores } from './app/account-endpoints'
import { operatorEndpoints, type OperatorStores } from './app/operator-endpoints'
import { publicEndpoints } from './app/public-endpoints'
import type { PublicStores } from './api/public/routes'
import { signInEndpoints, type SignInAnswers } from './app/sign-in-endpoints'
import { automationRoutes, type Automation } from './automation/routes'
import type { AccountCatalogs } from './catalog/account-catalog'
import type { Catalog } from './catalog/catalog'
import { newId } from './db/id'
import { ApiError, tellQuota } from './errors'
import type { Gateway } from './gateway'
import { allowAnyOrigin } from './http/cors'
import { dashboardRoutes, type DashboardFiles } from './http/dashboard'
import { docsRoutes } from './http/docs'
import type { Env } from './http/env'
import { assertGuarded, type Guards } from './http/guards'
import { refuseNul } from './http/nul'
import { renderError, toRendered } from './http/render'
import { wordingOf } from './http/wording'
import { serviceRoutes, type Readiness } from './http/service'
import { describeInterface } from './http/openapi'
import { chatCompletionRoutes } from './v1/chat-completions'
import { completionRoutes } from './v1/completions'
import { embeddingRoutes } from './v1/embeddings'
import { messageRoutes } from './v1/messages'
import { modelRoutes, type CollectionsFor } from './v1/models'
import type { ReplyPorts } from './v1/reply'
import { responseRoutes } from './v1/responses'
import { ClientGone } from './wire/chunk-stream'

/** What the application is put together from; main.ts makes it. */
export interface AppPorts {
  gateway: Gateway
  catalog: Catalog
  accounts: AccountCatalogs
  collectionsFor: CollectionsFor
  guards: Guards
  signIn: SignInAnswers
  dashboard: () => Promise<DashboardFiles>
  reply: ReplyPorts
  readiness: Readiness
  stores: AccountStores & OperatorStores & PublicStores
  automation: Automation
  log: Logger
}

/** `/v1`. */
const modelEndpoints = (ports: AppPorts) => {
  const { gateway, catalog, accounts, collectionsFor, guards, reply } = ports
  return new Hono<Env>()
    .route('/', chatCompletionRoutes(gateway, reply))
    .route('/', completionRoutes(gateway, reply))
    .route('/', embeddingRoutes(gateway, reply))
    .route('/', messageRoutes(gateway, reply))
    .route('/', responseRoutes(gateway, reply))
    .route('/', modelRoutes({ catalog, accounts, collectionsFor }, guards))
}

/** All routes. Throws when one of them says nothing about who may call it. */
export function createApp(ports: AppPorts): Hono<Env> {
  const { guards, stores, log } = ports
  const app = new Hono<Env>({ strict: false })
  app.use('*', async (c, next) => {
    const startedAtMs = performance.now()
    c.set('requestId', newId('req'))
    c.set('startedAtMs', startedAtMs)
    await next()
    const tookMs = performance.now() - startedAtMs
    const { headers } = c.res
    // A replayed answer has the id of the first.
    if (!headers.has('x-request-id')) headers.set('x-request-id', c.get('requestId'))
    headers.set('openai-processing-ms', String(Math.round(tookMs)))
    const quota = c.get('quota')
    // A 429 has told already which limit refused.
    if (quota && c.res.status !== 429) tellQuota(headers, quota)
    report(log, c.get('requestId'), { request: c.req.raw, response: c.res, tookMs })
  })
  app.use('/v1/*', allowAnyOrigin)
  app.use('/api/public/*', allowAnyOrigin)
  app.use('/api/*', refuseNul)

  app.route('/', modelEndpoints(ports))
  app.route('/', accountEndpoints(stores, guards))
  app.route('/', automationRoutes(ports, guards))
  app.route('/', operatorEndpoints(stores, guards))
  app.route('/', publicEndpoints(stores, guards))
  app.route('/', signInEndpoints(ports.signIn, guards))
  app.route('/', serviceRoutes(guards, ports.readiness))
  app.route('/', docsRoutes(guards))
  let described: Promise<string> | undefined
  app.get('/openapi.json', guards.open, async (c) => {
    described ??= describeInterface(app)
    return c.body(await described, 200, { 'content-type': 'application/json' })
  })
  // Last, as it takes every path that a browser asks for and nobody else has.
  app.route('/', dashboardRoutes(ports.dashboard, guards))

  app.notFound((c) =>
    renderError(unknownRoute(c.req.path), c.get('requestId'), wordingOf(c.req.raw)),
  )
  app.onError((thrown, c) => {
    // Nobody is left to read it; for the log, by the number that proxies use.
    if (thrown instanceof ClientGone) return new Response(null, { status: 499 })
    const error = toRendered(thrown)
    const requestId = c.get('requestId')
    if (error.status >= 500)
      log.error({ requestId, code: error.code, err: error.cause }, error.message)
    return renderError(error, requestId, wordingOf(c.req.raw))
  })
  assertGuarded(app)
  return app
}

/** A base address without `/v1` is what people get wrong most. */
function unknownRoute(path: string): ApiError {
  if (/^\/v1\/v1\/(messages|models)\b/.test(path)) {
    const message = 'There is nothing here. The base URL of an Anthropic client ends before /v1.'
    return new ApiError('resource_not_found', { message })
  }
  const isModelPath = /^\/(chat\/completions|completions|embeddings|models|responses)\b/.test(path)
  return new ApiError('resource_not_found', {
    message: isModelPath
      ? `There is nothing here. The base URL of this service ends in /v1: use /v1${path}.`
      : 'There is nothing here.',
  })
}

interface Exchange {
  request: Request
  response: Response
  tookMs: number
}

/** One line a request. The query is left out: people put secrets there. */
function report(log: Logger, requestId: string, { request, response, tookMs }: Exchange): void {
  const path = request.url.slice(request.url.indexOf('/', 8)).replace(/[?#].*$/s, '')
  log.info({
    requestId,
    method: request.method,
    path: path.slice(0, 300),
    status: response.status,
    ms: Math.round(tookMs * 10) / 10,
  })
}
