import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router'
import { NotFoundDocument } from '../components/not-found'
import { Shell } from './shell'
import { sessionQuery } from '../api/session'

interface Context {
  queries: QueryClient
}

export const root = createRootRouteWithContext<Context>()({
  component: Outlet,
  notFoundComponent: NotFoundDocument,
})

/** The parent of every page that requires a session. */
export const home = createRoute({
  getParentRoute: () => root,
  id: 'home',
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(sessionQuery)
    if (session) return
    const { to, error } = homeOf(location.href)
    throw redirect({ to: '/sign-in', search: { to, error, factor: undefined } })
  },
})

/** The page to open after sign-in, and the error of the link that led here. */
function homeOf(address: string): { to: string | undefined; error: string | undefined } {
  const url = new URL(address, window.location.origin)
  const error = url.searchParams.get('error') ?? undefined
  if (error !== undefined) url.searchParams.delete('error')
  const to = `${url.pathname}${url.search}${url.hash}`
  return { to: to === '/' ? undefined : to, error }
}
