import type { Hono } from 'hono'
import { newId } from '../../platform/db/id'
import type { BodyBudget } from '../../http/body-budget'
import { tellOrigin } from '../../http/cors'
import type { Env, Server } from '../../http/env'
import { finishFailed, finish, type RequestObserver } from '../../http/finish-response'
import type { Overload, Shed } from '../../http/overload'
import { getPath } from '../../http/path'
import { delayRejection } from '../../http/delay-rejection'
import { UnreadBodies } from '../../http/unread-body'
import type { OwnerBudget } from '../../limits/owner-budget'
import type { Tracing } from '../../telemetry/tracing'
import { modelHandlersOf, type ModelHandler } from '../../v1/endpoint'
import { ModelCall } from '../../v1/model-call'

type Answer = (request: Request, server: Server) => Response | Promise<Response>

interface Parts {
  witness: RequestObserver
  bodies: BodyBudget
  overload: Pick<Overload, 'refusal' | 'entered' | 'answered'>
  budget: OwnerBudget
  tracing?: Tracing | undefined
}

/**
 * Answers all requests: those to models directly, all others through the router, which with its middleware
 * allocates a hundred objects for each. Both ways lead to the same handlers, but only this one traces.
 */
export function createFront(app: Hono<Env>, parts: Parts): Answer {
  const front = new Front(parts)
  const handlers = modelHandlersOf(app)
  const { bodies, overload, budget, tracing } = parts
  return (request, server) => {
    const routed = () =>
      front.routed(request, app.fetch(request, { server, bodies, overload, budget }))
    if (request.method !== 'POST') return routed()
    let path = getPath(request.url)
    let handler = handlers.get(path)
    if (!handler) {
      // A trailing slash or escapes do not change the path's meaning: as the router reads it.
      path = app.getPath(request)
      handler = handlers.get(path)
    }
    if (!handler) return routed()
    const refusal = overload.refusal()
    if (refusal) return front.refuse({ request, path }, refusal)
    const call = new ModelCall({ request, server, bodies, requestId: newId('req'), path })
    if (tracing) call.trace = tracing.begin(call)
    return front.answer(handler, call)
  }
}

interface Refused {
  request: Request
  path: string
}

class Front {
  readonly #parts: Parts
  readonly #quiet: RequestObserver
  readonly #unread = new UnreadBodies()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#quiet = { ...parts.witness, logsRequests: false }
  }

  async answer(handler: ModelHandler, call: ModelCall): Promise<Response> {
    const { witness, overload } = this.#parts
    let response: Response
    overload.entered()
    try {
      response = await handler(call)
    } catch (thrown) {
      const refusal = finishFailed(thrown, call, witness)
      const { request, owner } = call
      const refused = { request, owner, address: () => call.address() }
      await delayRejection(refusal, refused, this.#parts.budget)
      response = await this.#unread.after(request, refusal)
    } finally {
      overload.answered()
      call.body?.release()
    }
    tellOrigin(call.request, response)
    finish(response, call, witness)
    call.trace?.answered(response.status, call.hasLog)
    return response
  }

  async routed(request: Request, answering: Response | Promise<Response>): Promise<Response> {
    return this.#unread.after(request, await answering)
  }

  /** Rejects before any other check, and without a line in the log. */
  async refuse({ request, path }: Refused, refusal: Shed): Promise<Response> {
    const requestId = newId('req')
    const refused = { request, requestId, path, startedAtMs: performance.now(), quota: undefined }
    const answer = finishFailed(refusal, refused, this.#quiet)
    const response = await this.#unread.after(request, answer)
    tellOrigin(request, response)
    finish(response, refused, this.#quiet)
    return response
  }
}
