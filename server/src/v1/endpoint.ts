import type { Context, Hono } from 'hono'
import { callOf, type ModelCall } from './model-call'
import type { Env } from '../http/env'
import { guarded } from '../http/guards'
import type { Declaration, Route } from '../http/route'

/** Answers a request to a model endpoint. Rejects with a failure before there is an answer. */
export type ModelHandler = (call: ModelCall) => Promise<Response>

const handlers = new WeakMap<object, ModelHandler>()

/** Answers a call that came through the router, unless the server is overloaded. */
async function serveCall(
  c: Context<Env>,
  call: ModelCall,
  handler: ModelHandler,
): Promise<Response> {
  const { overload } = c.env
  overload.onEnter()
  try {
    return await handler(call)
  } finally {
    overload.answered()
    call.body?.release()
    c.set('quota', call.quota)
    c.set('hasLog', call.hasLog)
  }
}

function rejectOverload({ env: { overload } }: Context<Env>): void {
  const refusal = overload.refusal()
  if (refusal) throw refusal
}

/** Wraps the handler of a model endpoint for the router. */
function createModelEndpoint(handler: ModelHandler) {
  const serveRouted = guarded(async (c: Context<Env>) => {
    rejectOverload(c)
    return serveCall(c, callOf(c), handler)
  })
  handlers.set(serveRouted, handler)
  return serveRouted
}

/**
 * Makes a model endpoint one of the account API as well, which a session may call: the dashboard has no key. The guard of
 * the access has authenticated the caller. `declaration` replaces parts of the endpoint's own.
 */
export function toAccountRoute(
  { declaration: own, serve }: Route,
  declaration: Pick<Declaration, 'path' | 'access' | 'operationId' | 'tag' | 'summary'>,
): Route {
  const handler = handlers.get(serve)
  if (!handler) throw new Error(`${own.path} is no model endpoint.`)
  return {
    declaration: { ...own, ...declaration },
    serve: (c) => {
      rejectOverload(c)
      const call = Object.assign(callOf(c), { path: own.path, principal: c.var.principal })
      return serveCall(c, call, handler)
    },
  }
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
