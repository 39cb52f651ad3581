import { describeRoute, resolver } from 'hono-openapi'
import { z } from 'zod'
import { errors, type ErrorCode } from '../errors'
import { keyHeader } from '../idempotency/key'

/** A response of a route, for its description. */
export const answers = (status: 200 | 201, description: string, schema: z.ZodType) => ({
  [status]: { description, content: { 'application/json': { schema: resolver(schema) } } },
})

/** Bodies to try: what each shows -> the body. */
type Examples = Readonly<Record<string, object>>

/**
 * A JSON body of a route, for its description; who reads it checks it. The schema gets `name` among
 * the components.
 */
export const accepts = (name: string, schema: z.ZodType, examples: Examples) => ({
  // A PUT needs at least one field all the same (`described.ts`).
  required: !schema.safeParse({}).success,
  content: {
    'application/json': {
      schema: resolver(schema.meta({ ref: name })),
      examples: Object.fromEntries(
        Object.entries(examples).map(([summary, value]) => [
          summary.toLowerCase().replaceAll(' ', '_'),
          { summary, value },
        ]),
      ),
    },
  },
})

/** `missing_api_key` -> `MissingApiKeyError`; `internal_error` is one already. */
const componentOf = (code: ErrorCode) =>
  `${code.replace(/_error$/, '')}_error`.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) =>
    letter.toUpperCase(),
  )

const toSchema = (code: ErrorCode) =>
  z
    .object({
      error: z.object({
        type: z.literal(errors[code].type),
        code: z.literal(code),
        message: z.string().meta({ examples: [errors[code].message] }),
        param: z
          .string()
          .nullable()
          .meta({ examples: [null] }),
        details: z.object(errors[code].details),
        ...(code === 'internal_error' && { request_id: z.string() }),
      }),
      ...(code === 'internal_error' && { request_id: z.string() }),
    })
    .meta({ ref: componentOf(code) })

const codes = Object.keys(errors).filter((name): name is ErrorCode => name in errors)
const schemas = new Map(codes.map((code) => [code, toSchema(code)]))

/** A line of a list in Markdown, where `<key>` would be a tag and vanish. */
const toLine = (code: ErrorCode) =>
  `- \`${code}\`: ${errors[code].message.replaceAll('<', String.raw`\<`)}`

/** Responses for error codes: one a status, from the rows of `errors.ts`. */
export function documented(...codes: ErrorCode[]) {
  const statuses = new Map<number, ErrorCode[]>()
  for (const code of [...codes, 'internal_error', 'gateway_unavailable'] as const) {
    for (const status of errors[code].statuses) {
      const others = statuses.get(status) ?? []
      if (!others.includes(code)) statuses.set(status, [...others, code])
    }
  }
  return Object.fromEntries(
    [...statuses].map(([status, members]) => {
      const shapes = members.flatMap((code) => schemas.get(code) ?? [])
      const [only] = shapes
      const schema = only && shapes.length === 1 ? only : z.union(shapes)
      const description = members.map(toLine).join('\n')
      return [
        status,
        { description, content: { 'application/json': { schema: resolver(schema) } } },
      ]
    }),
  )
}

/** What every route behind a key can answer. */
export const keyErrors = [
  'missing_api_key',
  'invalid_api_key',
  'expired_api_key',
  'insufficient_permissions',
  'rate_limit_exceeded',
] as const

interface DescribedRoute {
  operationId: string
  summary: string
  tag: string
  /** 200 unless something is made. */
  status?: 200 | 201
  /** When a route that makes something answers with 200 instead, in words. */
  otherwise?: string
  answer: z.ZodType
  /** Of the answer; of lines the schema is that of one line. JSON unless said. */
  type?: string
  body?: readonly [name: string, schema: z.ZodType, examples: Examples]
  /** Parameters of the path, and of the query. */
  path?: readonly string[]
  query?: readonly string[]
  /** Whether an `Idempotency-Key` makes repeating it safe. */
  isRepeatable?: true
  errors?: readonly ErrorCode[]
}

const parameter = (place: 'path' | 'query') => (name: string) => ({
  name,
  in: place,
  required: place === 'path',
  schema: { type: 'string' as const },
})

/** Source: contract 4.9. */
const repeatKey = {
  name: keyHeader,
  in: 'header' as const,
  required: false,
  description:
    'Names this request for 24 hours: the same key with the same body gets the first answer again.',
  schema: { type: 'string' as const, minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
}

/** Describes a route of `/api` that a key calls. */
export const accountRoute = (route: DescribedRoute) =>
  describeRoute({
    ...inCommon(route),
    security: [{ apiKey: [] }],
    responses: answersOf(route, keyErrors),
  })

/** What every route of `/api/admin` can answer: to everybody but an operator it does not exist. */
const operatorErrors = ['resource_not_found', 'insufficient_permissions'] as const

/** Describes a route of `/api/admin`, for the description that operators read. */
export const operatorRoute = (route: DescribedRoute) =>
  describeRoute({
    ...inCommon(route),
    security: [{ operatorKey: [] }],
    responses: answersOf(route, operatorErrors),
  })

const inCommon = (route: DescribedRoute) => ({
  operationId: route.operationId,
  summary: route.summary,
  tags: [route.tag],
  ...(route.body && { requestBody: accepts(...route.body) }),
  parameters: [
    ...(route.path ?? []).map(parameter('path')),
    ...(route.query ?? []).map(parameter('query')),
    ...(route.isRepeatable ? [repeatKey] : []),
  ],
})

const successOf = ({ status = 200, summary: description, answer, type }: DescribedRoute) =>
  type === undefined
    ? answers(status, description, answer)
    : { [status]: { description, content: { [type]: { schema: resolver(answer) } } } }

const answersOf = (route: DescribedRoute, common: readonly ErrorCode[]) => ({
  ...successOf(route),
  ...(route.otherwise && answers(200, route.otherwise, route.answer)),
  ...documented(
    'invalid_request',
    ...common,
    ...(route.path ? (['resource_not_found'] as const) : []),
    ...(route.errors ?? []),
  ),
})

/** What a DELETE answers, and whatever else has nothing to show. */
export const Done = z
  .object({ success: z.literal(true), message: z.string() })
  .meta({ ref: 'Done' })

/** Beside the rows of a list. */
export const Pagination = z
  .object({
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
  })
  .meta({ ref: 'Pagination' })

/** The query of every list that is paged. */
export const paging = ['limit', 'offset', 'cursor'] as const
