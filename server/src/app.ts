import { Hono } from 'hono'
import type { Logger } from 'pino'
import { configRoutes } from './api/admin-config/routes'
import type { ConfigStore } from './api/admin-config/store'
import { poolRoutes } from './api/connection-pools/routes'
import type { PoolStore } from './api/connection-pools/store'
import { platformConnectionRoutes } from './api/connections/platform-routes'
import type { PlatformConnectionStore } from './api/connections/platform-store'
import { connectionRoutes } from './api/connections/routes'
import type { ConnectionStore } from './api/connections/store'
import { adminModelRoutes } from './api/admin-models/routes'
import type { ModelStore } from './api/admin-models/store'
import { creditRoutes } from './api/admin-credits/routes'
import type { CreditStore } from './api/admin-credits/store'
import { organizationRoutes, type OrganizationStores } from './api/organizations/routes'
import { planRoutes } from './api/admin-plans/routes'
import type { PlanStore } from './api/admin-plans/store'
import { providerRoutes } from './api/admin-providers/routes'
import type { ProviderStore } from './api/admin-providers/store'
import { userRoutes } from './api/admin-users/routes'
import type { UserStore } from './api/admin-users/store'
import type { AccountCatalogs } from './catalog/account-catalog'
import type { Catalog } from './catalog/catalog'
import { newId } from './db/id'
import { ApiError, tellQuota } from './errors'
import type { Gateway } from './gateway'
import { allowAnyOrigin } from './http/cors'
import { docsRoutes } from './http/docs'
import type { Env } from './http/env'
import { assertGuarded, type Guards } from './http/guards'
import { refuseNul } from './http/nul'
import { renderError, toRendered } from './http/render'
import { serviceRoutes, type Readiness } from './http/service'
import { describeInterface } from './http/openapi'
import { chatCompletionRoutes } from './v1/chat-completions'
import { completionRoutes } from './v1/completions'
import { embeddingRoutes } from './v1/embeddings'
import { modelRoutes } from './v1/models'
import type { ReplyPorts } from './v1/reply'
import { ClientGone } from './wire/chunk-stream'

/** What the application is put together from; main.ts makes it. */
export interface AppPorts {
  gateway: Gateway
  catalog: Catalog
  accounts: AccountCatalogs
  guards: Guards
  reply: ReplyPorts
  readiness: Readiness
  stores: OrganizationStores & {
    config: ConfigStore
    users: UserStore
    plans: PlanStore
    credits: CreditStore
    providers: ProviderStore
    models: ModelStore
    platformConnections: PlatformConnectionStore
    connections: ConnectionStore
    pools: PoolStore
  }
  log: Logger
}

/** All routes. Throws when one of them says nothing about who may call it. */
export function createApp(ports: AppPorts): Hono<Env> {
  const { gateway, catalog, accounts, guards, reply, log } = ports
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

  app.route('/', chatCompletionRoutes(gateway, reply))
  app.route('/', completionRoutes(gateway, reply))
  app.route('/', embeddingRoutes(gateway, reply))
  app.route('/', modelRoutes({ catalog, accounts }, guards))
  app.route('/', configRoutes(ports.stores.config, guards))
  app.route('/', userRoutes(ports.stores.users, guards))
  app.route('/', planRoutes(ports.stores.plans, guards))
  app.route('/', creditRoutes(ports.stores.credits, guards))
  app.route('/', providerRoutes(ports.stores.providers, guards))
  app.route('/', adminModelRoutes(ports.stores.models, guards))
  app.route('/', platformConnectionRoutes(ports.stores.platformConnections, guards))
  app.route('/', connectionRoutes(ports.stores.connections, guards))
  app.route('/', poolRoutes(ports.stores.pools, guards))
  app.route('/', organizationRoutes(ports.stores, guards))
  app.route('/', serviceRoutes(guards, ports.readiness))
  app.route('/', docsRoutes(guards))
  let described: Promise<string> | undefined
  app.get('/openapi.json', guards.open, async (c) => {
    described ??= describeInterface(app)
    return c.body(await described, 200, { 'content-type': 'application/json' })
  })

  app.notFound((c) => renderError(unknownRoute(c.req.path), c.get('requestId')))
  app.onError((thrown, c) => {
    // Nobody is left to read it; for the log, by the number that proxies use.
    if (thrown instanceof ClientGone) return new Response(null, { status: 499 })
    const error = toRendered(thrown)
    const requestId = c.get('requestId')
    if (error.status >= 500)
      log.error({ requestId, code: error.code, err: error.cause }, error.message)
    return renderError(error, requestId)
  })
  assertGuarded(app)
  return app
}

/** A base address without `/v1` is what people get wrong most. */
function unknownRoute(path: string): ApiError {
  const isModelPath = /^\/(chat\/completions|completions|embeddings|models)\b/.test(path)
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
