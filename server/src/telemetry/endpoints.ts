/** The endpoints by which requests are distinguished; any other path is `other`. */
export const endpoints = [
  'chat_completions',
  'completions',
  'embeddings',
  'moderations',
  'rerank',
  'images',
  'speech',
  'transcriptions',
  'translations',
  'messages',
  'count_tokens',
  'responses',
  'models',
  'admin_api',
  'public_api',
  'sign_in',
  'webhooks',
  'scim',
  'account_api',
  'health',
  'other',
] as const

export type EndpointName = (typeof endpoints)[number]

const indexOf = (name: EndpointName) => endpoints.indexOf(name)
const other = indexOf('other')

const exactPaths: ReadonlyMap<string, number> = new Map(
  (
    [
      ['/v1/chat/completions', 'chat_completions'],
      ['/v1/completions', 'completions'],
      ['/v1/embeddings', 'embeddings'],
      ['/v1/moderations', 'moderations'],
      ['/v1/rerank', 'rerank'],
      ['/v2/rerank', 'rerank'],
      ['/v1/images/generations', 'images'],
      ['/v1/images/edits', 'images'],
      ['/v1/images/variations', 'images'],
      ['/v1/audio/speech', 'speech'],
      ['/v1/audio/transcriptions', 'transcriptions'],
      ['/v1/audio/translations', 'translations'],
      ['/v1/messages', 'messages'],
      ['/v1/messages/count_tokens', 'count_tokens'],
      ['/v1/responses', 'responses'],
      ['/v1/models', 'models'],
      ['/healthz', 'health'],
      ['/readyz', 'health'],
    ] as const
  ).map(([path, name]) => [path, indexOf(name)]),
)

/** The first that matches counts. */
const prefixes = (
  [
    ['/v1/models/', 'models'],
    ['/api/admin/', 'admin_api'],
    ['/api/public/', 'public_api'],
    ['/api/auth/', 'sign_in'],
    ['/api/webhooks/', 'webhooks'],
    ['/scim/', 'scim'],
    ['/api/', 'account_api'],
  ] as const
).map(([start, name]) => [start, indexOf(name)] as const)

/** Returns a path's index in `endpoints`. */
export function findEndpoint(path: string): number {
  const knownEndpoint = exactPaths.get(path)
  if (knownEndpoint !== undefined) return knownEndpoint
  if (path.endsWith('/')) return exactPaths.get(path.slice(0, -1)) ?? startOf(path)
  return startOf(path)
}

const startOf = (path: string) => prefixes.find(([start]) => path.startsWith(start))?.[1] ?? other
