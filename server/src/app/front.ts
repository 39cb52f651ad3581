import type { Hono } from 'hono'
import { newId } from '../db/id'
import { tellOrigin } from '../http/cors'
import type { Env, Server } from '../http/env'
import { failed, finish, type Witness } from '../http/finish'
import { pathOf } from '../http/path'
import type { Tracing } from '../telemetry/tracing'
import { modelHandlersOf, type ModelHandler } from '../v1/endpoint'
import { ModelCall } from '../v1/model-call'

type Answer = (request: Request, server: Server) => Response | Promise<Response>

/**
 * Answers all requests: those to models directly, all others by the router, which with its middleware
 * makes a hundred objects for each. Both ways lead to the same handlers, but only this one traces.
 */
export function createFront(app: Hono<Env>, witness: Witness, tracing?: Tracing): Answer {
  const handlers = modelHandlersOf(app)
  return (request, server) => {
    if (request.method !== 'POST') return app.fetch(request, { server })
    let path = pathOf(request.url)
    let handler = handlers.get(path)
    if (!handler) {
      // With a slash at its end, or escapes, it means the same: as the router reads it.
      path = app.getPath(request)
      handler = handlers.get(path)
    }
    if (!handler) return app.fetch(request, { server })
    const call = new ModelCall({ request, server, requestId: newId('req'), path })
    if (tracing) call.trace = tracing.begin(call)
    return answer(handler, call, witness)
  }
}

async function answer(handler: ModelHandler, call: ModelCall, witness: Witness): Promise<Response> {
  let response: Response
  try {
    response = await handler(call)
  } catch (thrown) {
    response = failed(thrown, call, witness)
  }
  tellOrigin(call.request, response)
  finish(response, call, witness)
  call.trace?.answered(response.status, call.hasLog)
  return response
}
