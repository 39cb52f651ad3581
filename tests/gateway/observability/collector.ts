import { eventually } from '../../../server/testing/eventually'

type Json = Record<string, unknown>

/** A span as it was received. */
export interface Received {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  kind: number
  /** 2 where it failed. */
  status: number
  attributes: Record<string, unknown>
}

/** Takes traces by OTLP over HTTP, as JSON. */
export interface Collector extends AsyncDisposable {
  url: string
  spans: () => Received[]
  /** Attributes of the resource that sent last. */
  resource: () => Record<string, unknown>
  /** Headers that came last. */
  headers: () => Headers
  /** All that was received, as text. */
  text: () => string
  /** The spans of a request, once so many have come. */
  of: (requestId: string, count: number) => Promise<Received[]>
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? value : [])

function attributesOf(value: unknown): Record<string, unknown> {
  return Object.fromEntries(
    list(value).map(({ key, value: held }) => {
      const [one] = Object.values(typeof held === 'object' && held !== null ? held : {})
      return [String(key), one]
    }),
  )
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null
const field = (value: unknown, name: string): unknown => (isJson(value) ? value[name] : undefined)

const toReceived = (span: Json): Received => ({
  traceId: String(span['traceId']),
  spanId: String(span['spanId']),
  parentSpanId: typeof span['parentSpanId'] === 'string' ? span['parentSpanId'] : '',
  name: String(span['name']),
  kind: Number(span['kind']),
  status: Number(field(span['status'], 'code') ?? 0),
  attributes: attributesOf(span['attributes']),
})

/** Starts one; `answer` in place of taking what comes. */
export function startCollector(answer?: () => Promise<Response>): Collector {
  const spans: Received[] = []
  const texts: string[] = []
  let resource: Record<string, unknown> = {}
  let headers = new Headers()
  const take = async (request: Request): Promise<Response> => {
    headers = request.headers
    const text = await request.text()
    texts.push(text)
    if (answer) return answer()
    const sent: unknown = JSON.parse(text)
    for (const from of list(field(sent, 'resourceSpans'))) {
      resource = attributesOf(field(from['resource'], 'attributes'))
      for (const scope of list(from['scopeSpans'])) {
        spans.push(...list(scope['spans']).map(toReceived))
      }
    }
    return Response.json({})
  }
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: take })
  const of = (requestId: string) => {
    const request = spans.find(({ attributes }) => attributes['tollgate.request_id'] === requestId)
    return request ? spans.filter(({ traceId }) => traceId === request.traceId) : []
  }
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans: () => spans,
    resource: () => resource,
    headers: () => headers,
    text: () => texts.join('\n'),
    of: async (requestId, count) => {
      await eventually(() => of(requestId).length >= count)
      return of(requestId)
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
