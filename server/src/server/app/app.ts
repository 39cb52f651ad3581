import { Hono, type Context } from 'hono'
import { accountEndpoints, type AccountStores } from './account-endpoints'
import { operatorEndpoints, type OperatorStores } from './operator-endpoints'
import { publicEndpoints } from './public-endpoints'
import type { PublicStores } from '../../api/public/routes'
import { signInEndpoints, type SignInAnswers } from './sign-in-endpoints'
import { automationRoutes, type Automation } from '../../automation/routes'
import type { Catalog } from '../../catalog/catalog'
import { newId } from '../../platform/db/id'
import type { Gateway } from '../../gateway/gateway'
import { allowAnyOrigin } from '../../http/cors'
import { dashboardRoutes, type DashboardFiles } from '../../http/dashboard'
import { docsRoutes } from '../../http/docs'
import type { Env } from '../../http/env'
import { finishFailed, finish, type RequestObserver } from '../../http/finish-response'
import { getPath } from '../../http/path'
import { assertGuarded, type Guards } from '../../http/guards'
import { declarationsOf, mount } from '../../http/mount'
import { rejectNulBytes } from '../../http/reject-nul-bytes'
import { delayRejection } from '../../http/delay-rejection'
import { securityHeaders } from '../../http/security-headers'
import {
  toKnownEndpoints,
  toUnknownRouteError,
  type KnownEndpoints,
} from '../../http/unknown-route'
import { serviceRoutes, type Readiness } from '../../http/service'
import { describeInterface } from '../../http/openapi/document'
import type { Audience } from '../../http/openapi/interfaces'
import { scimEndpoints, type ScimPorts } from '../../scim/routes'
import { chatCompletionRoutes } from '../../v1/chat-completions'
import { completionRoutes } from '../../v1/completions'
import { conversationItemRoutes } from '../../v1/conversation-items'
import { conversationRoutes } from '../../v1/conversations'
import { embeddingRoutes } from '../../v1/embeddings'
import { messageRoutes } from '../../v1/messages'
import { imageRoutes } from '../../v1/images'
import { moderationRoutes } from '../../v1/moderations'
import { modelRoutes, type CollectionsFor } from '../../v1/models'
import { toPlaygroundRoutes } from '../../v1/playground'
import type { ModelsFor } from '../../v1/model-caller'
import type { ReplyPorts } from '../../v1/reply'
import { rerankRoutes } from '../../v1/rerank'
import { speechRoutes } from '../../v1/speech'
import { responseRoutes, type ResponsePorts } from '../../v1/responses'
import { storedResponseRoutes } from '../../v1/stored-responses'
import { transcriptionRoutes } from '../../v1/transcriptions'

/** The dependencies of the application; the composition root in server/server.ts creates them. */
export interface AppPorts {
  gateway: Gateway
  catalog: Catalog
  collectionsFor: CollectionsFor
  modelsFor: ModelsFor
  guards: Guards
  signIn: SignInAnswers
  scim: ScimPorts
  dashboard: () => Promise<DashboardFiles>
  reply: ReplyPorts
  responses: ResponsePorts
  readiness: Readiness
  stores: AccountStores & OperatorStores & PublicStores
  automation: Automation
  witness: RequestObserver
}

/** `/v1`, what clients of Cohere call under `/v2`, and what the playground calls. */
const modelEndpoints = (ports: AppPorts) => {
  const { gateway, catalog, collectionsFor, modelsFor, guards, reply, responses } = ports
  const routes = [
    ...chatCompletionRoutes(gateway, reply),
    ...completionRoutes(gateway, reply),
    ...embeddingRoutes(gateway, reply),
    ...moderationRoutes(gateway, reply),
    ...rerankRoutes(gateway, reply),
    ...speechRoutes(gateway, reply),
    ...transcriptionRoutes(gateway, reply),
    ...imageRoutes(gateway, reply),
    ...messageRoutes(gateway, reply),
    ...responseRoutes(gateway, reply, responses),
    ...storedResponseRoutes({ ...responses, reply }),
    ...conversationRoutes(responses),
    ...conversationItemRoutes(responses),
    ...modelRoutes({ catalog, collectionsFor, modelsFor }),
  ]
  return mount(guards, [...routes, ...toPlaygroundRoutes(routes)])
}

/** Mounts all routes. Throws when a route does not declare who may call it. */
export function createApp(ports: AppPorts): Hono<Env> {
  const { guards, stores, witness } = ports
  const app = new Hono<Env>({ strict: false })
  app.use('*', async (c, next) => {
    const startedAtMs = performance.now()
    const requestId = newId('req')
    c.set('requestId', requestId)
    c.set('startedAtMs', startedAtMs)
    await next()
    const request = c.req.raw
    await delayRejection(c.res, refusedOf(c), c.env.loopShares)
    const exchange = { request, requestId, startedAtMs, path: getPath(request.url) }
    finish(c.res, { ...exchange, quota: c.get('quota'), hasLog: c.get('hasLog') }, witness)
  })
  app.use('*', securityHeaders)
  app.use('/v1/*', allowAnyOrigin)
  app.use('/v2/*', allowAnyOrigin)
  app.use('/api/public/*', allowAnyOrigin)
  app.use('/api/*', rejectNulBytes)

  app.route('/', modelEndpoints(ports))
  app.route('/', accountEndpoints(stores, guards))
  app.route('/', mount(guards, automationRoutes(ports)))
  app.route('/', operatorEndpoints(stores, guards))
  app.route('/', publicEndpoints(stores, guards))
  app.route('/', signInEndpoints(ports.signIn, guards))
  app.route('/', scimEndpoints(ports.scim, guards))
  app.route('/', serviceRoutes(guards, ports.readiness))
  app.route('/', docsRoutes(guards))
  app.get('/openapi.json', guards.open, describing(app, 'public'))
  app.get('/openapi-operator.json', guards.open, describing(app, 'operator'))
  // Last, as it matches every path that no other route serves.
  app.route('/', dashboardRoutes(ports.dashboard, guards))

  let knownEndpoints: KnownEndpoints | undefined
  app.notFound((c) =>
    finishFailed(
      toUnknownRouteError(c.req.path, (knownEndpoints ??= toKnownEndpoints(declarationsOf(app)))),
      { request: c.req.raw, requestId: c.get('requestId') },
      witness,
    ),
  )
  app.onError((thrown, c) =>
    finishFailed(thrown, { request: c.req.raw, requestId: c.get('requestId') }, witness),
  )
  assertGuarded(app)
  return app
}

/** Serves an OpenAPI description, generated at the first request for it. */
function describing(app: Hono<Env>, audience: Audience) {
  let document: string | undefined
  return (c: Context<Env>) => {
    document ??= describeInterface(app, audience)
    return c.body(document, 200, { 'content-type': 'application/json' })
  }
}

const refusedOf = (c: Context<Env>) => ({
  request: c.req.raw,
  owner: c.get('principal')?.accountId,
  address: () => c.env.server.requestIP(c.req.raw)?.address ?? '',
})
