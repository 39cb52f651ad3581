/** The endpoints by which requests are distinguished; any other path is `other`. */
export const endpoints = [
  'chat_completions',
  'completions',
  'embeddings',
  'messages',
  'count_tokens',
  'responses',
  'models',
  'admin_api',
  'public_api',
  'sign_in',
  'webhooks',
  'account_api',
  'health',
  'other',
] as const

export type EndpointName = (typeof endpoints)[number]

const placeOf = (name: EndpointName) => endpoints.indexOf(name)
const other = placeOf('other')

const whole: ReadonlyMap<string, number> = new Map(
  (
    [
      ['/v1/chat/completions', 'chat_completions'],
      ['/v1/completions', 'completions'],
      ['/v1/embeddings', 'embeddings'],
      ['/v1/messages', 'messages'],
      ['/v1/messages/count_tokens', 'count_tokens'],
      ['/v1/responses', 'responses'],
      ['/v1/models', 'models'],
      ['/healthz', 'health'],
      ['/readyz', 'health'],
    ] as const
  ).map(([path, name]) => [path, placeOf(name)]),
)

/** The first that matches counts. */
const begun = (
  [
    ['/v1/models/', 'models'],
    ['/api/admin/', 'admin_api'],
    ['/api/public/', 'public_api'],
    ['/api/auth/', 'sign_in'],
    ['/api/webhooks/', 'webhooks'],
    ['/api/', 'account_api'],
  ] as const
).map(([start, name]) => [start, placeOf(name)] as const)

/** Returns a path's index in `endpoints`. */
export function findEndpoint(path: string): number {
  const known = whole.get(path)
  if (known !== undefined) return known
  if (path.endsWith('/')) return whole.get(path.slice(0, -1)) ?? startOf(path)
  return startOf(path)
}

const startOf = (path: string) => begun.find(([start]) => path.startsWith(start))?.[1] ?? other
