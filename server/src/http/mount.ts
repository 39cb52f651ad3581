import { Hono } from 'hono'
import type { Env } from './env'
import type { Guards } from './guards'
import type { Declaration, Route } from './route'

const declarations = new WeakMap<object, Declaration>()

/** Mounts routes, each behind the guard of its access. */
export function mount(guards: Guards, routes: readonly Route[]): Hono<Env> {
  const app = new Hono<Env>()
  for (const { declaration, serve, isGuarded } of routes) {
    const { path, access } = declaration
    const method = declaration.method.toUpperCase()
    declarations.set(serve, declaration)
    if (isGuarded) app.on(method, path, serve)
    else app.on(method, path, guards.for(access), serve)
  }
  return app
}

/** Lists the declarations of an application's routes, in the order in which they were mounted. */
export const declarationsOf = ({ routes }: Hono<Env>): Declaration[] =>
  routes.flatMap(({ handler }) => declarations.get(handler) ?? [])
