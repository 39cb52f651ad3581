import { z } from 'zod'
import { errors, type ErrorCode } from '../../errors'

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

/** The errors of one status. */
interface ErrorResponse {
  description: string
  schema: z.ZodType
}

/** Describes error codes: one response for each status, from the rows of `errors.ts`. */
export function toErrorResponses(
  declared: readonly ErrorCode[],
): ReadonlyMap<number, ErrorResponse> {
  const statuses = new Map<number, ErrorCode[]>()
  for (const code of new Set([...declared, 'internal_error', 'gateway_unavailable'] as const)) {
    for (const status of errors[code].statuses) {
      statuses.set(status, [...(statuses.get(status) ?? []), code])
    }
  }
  return new Map([...statuses].map(([status, members]) => [status, toResponse(members)]))
}

function toResponse(members: readonly ErrorCode[]): ErrorResponse {
  const shapes = members.flatMap((code) => schemas.get(code) ?? [])
  const [only] = shapes
  const schema = only && shapes.length === 1 ? only : z.union(shapes)
  return { description: members.map(toLine).join('\n'), schema }
}
