import { describeRoute, resolver } from 'hono-openapi'
import { z } from 'zod'
import { errors, type ErrorCode } from '../errors'
import { keyHeader } from '../idempotency/key'

/** Documents a response of a route. */
export const answers = (status: 200 | 201, description: string, schema: z.ZodType) => ({
  [status]: { description, content: { 'application/json': { schema: resolver(schema) } } },
})

/** Example bodies: title -> body. */
type Examples = Readonly<Record<string, object>>

/**
 * Documents the JSON body of a route; its handler validates it. The schema becomes the component `name`.
 */
export const accepts = (name: string, schema: z.ZodType, examples: Examples) => ({
  // A PUT needs at least one field all the same (`describe-operations.ts`).
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

/** `missing_api_key` -> `MissingApiKeyError`; `internal_error` already ends so. */
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

/** A list item in Markdown, in which a bare `<key>` would be read as a tag and vanish. */
const toLine = (code: ErrorCode) =>
  `- \`${code}\`: ${errors[code].message.replaceAll('<', String.raw`\<`)}`

/** Documents error codes: one response per status, from the rows of `errors.ts`. */
export function describeErrors(...codes: ErrorCode[]) {
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

/** Errors of every route with a key. */
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
  /** 201 for routes that create something, else 200. */
  status?: 200 | 201
  /** The case in which a creating route answers 200, in words. */
  otherwise?: string
  answer: z.ZodType
  /** The content type of the answer, JSON by default; for lines the schema describes one line. */
  type?: string
  body?: readonly [name: string, schema: z.ZodType, examples: Examples]
  /** Parameters of the path, and of the query. */
  path?: readonly string[]
  query?: readonly string[]
  /** Whether an `Idempotency-Key` makes repeats safe. */
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

/** Errors of every route of `/api/admin`: it does not exist for callers that are no operators. */
const operatorErrors = ['resource_not_found', 'insufficient_permissions'] as const

/** Documents a route of `/api/admin`, in the operators' description. */
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
  ...describeErrors(
    'invalid_request',
    ...common,
    ...(route.path ? (['resource_not_found'] as const) : []),
    ...(route.errors ?? []),
  ),
})

/** The answer of a DELETE, and of other actions without a result. */
export const Done = z
  .object({ success: z.literal(true), message: z.string() })
  .meta({ ref: 'Done' })

/** The pagination of a list. */
export const Pagination = z
  .object({
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
  })
  .meta({ ref: 'Pagination' })

/** The query parameters of every paged list. */
export const paging = ['limit', 'offset', 'cursor'] as const
