import type { Hono } from 'hono'
import type { Logger } from 'pino'
import { newId } from '../db/id'
import { tellOrigin } from '../http/cors'
import type { Env } from '../http/env'
import { failed, finish } from '../http/finish'
import { modelHandlersOf, type ModelHandler } from '../v1/endpoint'
import { ModelCall, type Received } from '../v1/model-call'

type Answer = (request: Request, server: Bun.Server<undefined>) => Response | Promise<Response>

/** `https://` at least is before the path. */
const shortestOrigin = 8

/** The path of an absolute URL, as it was sent; it may have a query, never a fragment. */
function pathOf(url: string): string {
  const start = url.indexOf('/', shortestOrigin)
  const end = url.indexOf('?', start)
  return url.slice(start, end < 0 ? url.length : end)
}

/**
 * Answers all requests. The router finds its way for all of them; those of model endpoints by their very
 * path go there directly, as its middleware costs 8 µs.
 */
export function createFront(app: Hono<Env>, log: Logger): Answer {
  const handlers = modelHandlersOf(app)
  return (request, server) => {
    const path = pathOf(request.url)
    const handler = request.method === 'POST' ? handlers.get(path) : undefined
    if (!handler) return app.fetch(request, { server })
    return answer(handler, { request, server, requestId: newId('req'), path }, log)
  }
}

async function answer(handler: ModelHandler, received: Received, log: Logger): Promise<Response> {
  const startedAtMs = performance.now()
  const call = new ModelCall(received)
  const { request, requestId } = call
  let response: Response
  try {
    response = await handler(call)
  } catch (thrown) {
    response = failed(thrown, call, log)
  }
  tellOrigin(request, response)
  finish(response, { request, requestId, startedAtMs, quota: call.quota }, log)
  return response
}
