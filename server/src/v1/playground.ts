import { toAccountRoute } from './endpoint'
import { account, type AccountAccess } from '../http/access'
import type { Route } from '../http/route'

/** The endpoints that the playground of the dashboard calls, beside the conversations of `/api/automation`. */
const playgroundEndpoints: ReadonlyMap<string, readonly [operationId: string, summary: string]> =
  new Map([
    ['/v1/images/generations', ['createPlaygroundImage', 'Create images in the playground']],
    ['/v1/audio/speech', ['createPlaygroundSpeech', 'Create speech in the playground']],
    [
      '/v1/audio/transcriptions',
      ['createPlaygroundTranscription', 'Create a transcript in the playground'],
    ],
  ])

const modelVersion = /^\/v1/

/** A recording has the limits of its own endpoint, as a form and in JSON: it is read to disk, and not as a body. */
function accessOf({ declaration: { formBody } }: Route): AccountAccess {
  const { bodyBytes, ...access } = account('write', { body: 'bulk' })
  return formBody === undefined && bodyBytes !== undefined ? { ...access, bodyBytes } : access
}

/** Makes endpoints for the playground of those among `routes` that it calls: paid, limited and logged as theirs. */
export const toPlaygroundRoutes = (routes: readonly Route[]): Route[] =>
  routes.flatMap((route) => {
    const { path } = route.declaration
    const [operationId, summary] = playgroundEndpoints.get(path) ?? []
    if (operationId === undefined || summary === undefined) return []
    return toAccountRoute(route, {
      path: path.replace(modelVersion, '/api/playground'),
      access: accessOf(route),
      operationId,
      tag: 'Playground',
      summary,
    })
  })
