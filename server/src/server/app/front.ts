import type { Hono } from 'hono'
import { isGatewaySocket, openGatewaySocket, type SocketServer } from './gateway-socket'
import { newId } from '../../platform/db/id'
import type { BodyBudget } from '../../http/body-budget'
import { allowOrigin } from '../../http/cors'
import type { Env, Server } from '../../http/env'
import type { Uploads } from '../../http/upload-directory'
import { closeConnection } from '../../http/keep-alive'
import { finishFailed, finish, type RequestObserver } from '../../http/finish-response'
import type { Overload, Shed } from '../../http/overload'
import { getPath } from '../../http/path'
import { delayRejection } from '../../http/delay-rejection'
import { UnreadBodies } from '../../http/unread-body'
import type { EventLoopShares } from '../../limits/event-loop-shares'
import type { Tracing } from '../../telemetry/tracing'
import type { Sockets } from '../../tunnel/sockets'
import { modelHandlersOf, type ModelHandler } from '../../v1/endpoint'
import { ModelCall } from '../../v1/model-call'

/** Undefined once a request has become a socket. */
type Answer = (request: Request, server: SocketServer) => Response | Promise<Response | undefined>

interface FrontDependencies {
  /** Sockets of self-hosted gateways. */
  sockets: Pick<Sockets, 'authenticate'>
  /** Once it is stopping, each answer closes its connection: load balancers send no other request on it. */
  state: { readonly isStopping: boolean }
  witness: RequestObserver
  bodies: BodyBudget
  uploads: Uploads
  overload: Pick<Overload, 'refusal' | 'onEnter' | 'answered'>
  loopShares: EventLoopShares
  tracing?: Tracing | undefined
}

/**
 * Answers all requests: those to models directly, all others through the router, which with its middleware
 * allocates a hundred objects for each. Both ways lead to the same handlers, but only this one traces.
 */
export function createFront(app: Hono<Env>, dependencies: FrontDependencies): Answer {
  const { state } = dependencies
  const answer = createAnswer(app, dependencies)
  return (request, server) => {
    if (isGatewaySocket(request)) return openGatewaySocket(request, server, dependencies)
    const response = answer(request, server)
    return state.isStopping ? withClosing(response) : response
  }
}

async function withClosing(answering: Response | Promise<Response>): Promise<Response> {
  const response = await answering
  closeConnection(response.headers)
  return response
}

function createAnswer(app: Hono<Env>, dependencies: FrontDependencies) {
  const front = new Front(dependencies)
  const handlers = modelHandlersOf(app)
  const { bodies, uploads, overload, loopShares, tracing } = dependencies
  const bindings = { bodies, uploads, overload, loopShares }
  const answerRouted = (request: Request, server: Server) =>
    front.awaitRouted(request, app.fetch(request, { server, ...bindings }))
  return (request: Request, server: Server): Response | Promise<Response> => {
    if (request.method !== 'POST') return answerRouted(request, server)
    let path = getPath(request.url)
    let handler = handlers.get(path)
    if (!handler) {
      // A trailing slash or escapes do not change the path's meaning: as the router reads it.
      path = app.getPath(request)
      handler = handlers.get(path)
    }
    if (!handler) return answerRouted(request, server)
    const refusal = overload.refusal()
    if (refusal) return front.refuse({ request, path }, refusal)
    const call = new ModelCall({ request, server, bodies, uploads, requestId: newId('req'), path })
    if (tracing) call.trace = tracing.begin(call)
    return front.answer(handler, call)
  }
}

interface Refused {
  request: Request
  path: string
}

class Front {
  readonly #dependencies: FrontDependencies
  readonly #quiet: RequestObserver
  readonly #unread = new UnreadBodies()

  constructor(dependencies: FrontDependencies) {
    this.#dependencies = dependencies
    this.#quiet = { ...dependencies.witness, logsRequests: false }
  }

  async answer(handler: ModelHandler, call: ModelCall): Promise<Response> {
    const { witness, overload } = this.#dependencies
    let response: Response
    overload.onEnter()
    try {
      response = await handler(call)
    } catch (thrown) {
      const refusal = finishFailed(thrown, call, witness)
      // Others wait for its room, not for the delay of its rejection.
      call.body?.release()
      const { request, owner } = call
      const refused = { request, owner, address: () => call.address() }
      await delayRejection(refusal, refused, this.#dependencies.loopShares)
      response = await this.#unread.after(request, refusal)
    } finally {
      overload.answered()
      call.body?.release()
    }
    allowOrigin(call.request, response)
    finish(response, call, witness)
    call.trace?.answered(response.status, call.hasLog)
    return response
  }

  async awaitRouted(request: Request, answering: Response | Promise<Response>): Promise<Response> {
    return this.#unread.after(request, await answering)
  }

  /** Rejects before any other check, and without a line in the log. */
  async refuse({ request, path }: Refused, refusal: Shed): Promise<Response> {
    const requestId = newId('req')
    const refused = { request, requestId, path, startedAtMs: performance.now(), quota: undefined }
    const answer = finishFailed(refusal, refused, this.#quiet)
    const response = await this.#unread.after(request, answer)
    allowOrigin(request, response)
    finish(response, refused, this.#quiet)
    return response
  }
}
