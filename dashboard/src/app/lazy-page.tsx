import { lazyRouteComponent, type RouteComponent } from '@tanstack/react-router'

/** The code of a page could not be loaded, because the service cannot be reached. */
export class PageLoadError extends Error {
  override readonly name = 'PageLoadError'
  /** Loads it again; an error is thrown by the page when it renders. */
  readonly reload: () => Promise<void>

  constructor(reload: () => Promise<void>) {
    super('This page could not be loaded. Check your connection and try again.')
    this.reload = reload
  }
}

const checkTimeoutMs = 5000

/** Whether the service responds: if so, the code is missing because a new version replaced it. */
const isReachable = () =>
  fetch('/api/public/config', {
    cache: 'no-store',
    signal: AbortSignal.timeout(checkTimeoutMs),
  }).then(
    ({ status }) => status < 500,
    () => false,
  )

/**
 * Wraps a page whose code loads when it is visited. While the service cannot be reached, the shell stays and an error with a
 * retry takes the page's place; the router would reload the document, which ends in the browser's error page.
 */
export function lazyPage<Name extends string>(
  // `void` keeps the types of the pages, which know those of all routes, out of the types of the routes.
  load: () => Promise<Readonly<Record<Name, () => void>>>,
  name: Name,
) {
  const page: RouteComponent = lazyRouteComponent(async () => {
    try {
      const component: () => void = (await load())[name]
      return { default: component }
    } catch (error) {
      if (await isReachable()) throw error
      throw new PageLoadError(async () => page.preload?.())
    }
  }, 'default')
  return page
}
