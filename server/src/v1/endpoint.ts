import type { Context, Hono } from 'hono'
import { callOf, type ModelCall } from './model-call'
import type { Env } from '../http/env'
import { guarded } from '../http/guards'
import type { Declaration, Route } from '../http/route'

/** Answers a request to a model endpoint. Rejects with a failure before there is an answer. */
export type ModelHandler = (call: ModelCall) => Promise<Response>

const handlers = new WeakMap<object, ModelHandler>()

/** Wraps the handler of a model endpoint for the router. */
function createModelEndpoint(handler: ModelHandler) {
  const serveRouted = guarded(async (c: Context<Env>) => {
    const { overload } = c.env
    const refusal = overload.refusal()
    if (refusal) throw refusal
    const call = callOf(c)
    overload.onEnter()
    try {
      return await handler(call)
    } finally {
      overload.answered()
      call.body?.release()
      c.set('quota', call.quota)
      c.set('hasLog', call.hasLog)
    }
  })
  handlers.set(serveRouted, handler)
  return serveRouted
}

/** A model endpoint. `body` is the schema with which the gateway validates. */
export const modelRoute = ({
  handler,
  ...declaration
}: Declaration & { handler: ModelHandler }): Route => ({
  declaration,
  serve: createModelEndpoint(handler),
  isGuarded: true,
})

/** Maps the paths of an application's model endpoints to their handlers: an exact match needs no router. */
export const modelHandlersOf = ({ routes }: Hono<Env>): ReadonlyMap<string, ModelHandler> =>
  new Map(
    routes.flatMap(({ method, path, handler }) => {
      const endpoint = method === 'POST' ? handlers.get(handler) : undefined
      return endpoint ? [[path, endpoint] as const] : []
    }),
  )
