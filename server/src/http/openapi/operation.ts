import { z } from 'zod'
import { keyHeader } from '../../idempotency/key'
import type { Access, OperatorAccess } from '../access'
import type { Declaration, MediaAnswer } from '../route'
import type { ErrorCode } from '../../errors'
import { AnswerSample } from './answer-sample'
import { toErrorResponses } from './errors'
import type { JsonSchema, SchemaConverter } from './json-schema'

interface Media {
  schema: JsonSchema
  examples?: Record<string, { summary: string; value: unknown }>
}

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: JsonSchema
}

type Content = Record<string, Media>

/** An operation of OpenAPI. */
export interface OpenApiOperation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: Record<string, string[]>[]
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, { description: string; content: Content }>
}

/** Errors of every route with a key. */
const keyErrors = [
  'missing_api_key',
  'invalid_api_key',
  'expired_api_key',
  'insufficient_permissions',
  'rate_limit_exceeded',
] as const

/** Errors of every route of an access class. `/api/admin` does not exist for callers that are not operators. */
const commonErrors: Readonly<Record<Access['class'], readonly ErrorCode[]>> = {
  models: keyErrors,
  api: ['invalid_request', ...keyErrors],
  operator: ['invalid_request', 'resource_not_found', 'insufficient_permissions'],
  public: ['invalid_request', 'rate_limit_exceeded'],
  open: ['invalid_request'],
}

const security: Readonly<Record<Access['class'], Record<string, string[]>[]>> = {
  models: [{ apiKey: [] }],
  api: [{ apiKey: [] }],
  operator: [{ operatorKey: [] }],
  public: [],
  open: [],
}

/** Describes an endpoint. Its schemas, and the components that they name, are added to those of `converter`. */
export const toOperation = (
  declaration: Declaration,
  converter: SchemaConverter,
): OpenApiOperation => ({
  operationId: declaration.operationId,
  summary: declaration.summary,
  description: descriptionOf(declaration),
  tags: [declaration.tag],
  security: security[declaration.access.class],
  parameters: parametersOf(declaration, converter),
  ...(declaration.body && { requestBody: requestBodyOf(declaration, declaration.body, converter) }),
  responses: { ...answersOf(declaration, converter), ...errorsOf(declaration, converter) },
})

const kilobyte = 1024

function operatorNote({ roles }: OperatorAccess): string {
  if (roles.length === 0) return 'Requires an operator.'
  return `Requires an operator, or the role ${roles.map((role) => `\`${role}\``).join(' or ')}.`
}

const accessNote = (access: Access): string => {
  if (access.class === 'public') return 'Requires no key.'
  if (access.class === 'operator') return operatorNote(access)
  return access.permission ? `Requires the permission \`${access.permission}\`.` : ''
}

function bodyNote({ access: { bodyBytes }, body }: Declaration): string {
  if (!bodyBytes || !body) return ''
  const max = bodyBytes / kilobyte
  return `The body has at most ${max < kilobyte ? `${max} KB` : `${max / kilobyte} MB`}.`
}

const descriptionOf = (declaration: Declaration) =>
  [declaration.notes, accessNote(declaration.access), bodyNote(declaration)]
    .filter(Boolean)
    .join(' ')

/** Source: contract 4.9. */
const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[ -~]+$/)
  .optional()
  .describe(
    'Identifies this request for 24 hours: a repeat with the same key and the same body receives the first answer.',
  )

function parametersOf(
  { params = {}, query, headers = {}, idempotency }: Declaration,
  converter: SchemaConverter,
) {
  const toParameter = (location: Parameter['in'], name: string, schema: z.ZodType): Parameter => {
    const { description, ...plain } = converter.toJsonSchema(schema)
    return {
      name,
      in: location,
      required: location === 'path' || !schema.safeParse(undefined).success,
      ...(description !== undefined && { description }),
      schema: plain,
    }
  }
  return [
    ...Object.entries(params).map(([name, schema]) => toParameter('path', name, schema)),
    ...Object.entries(query?.shape ?? {}).map(([name, schema]) =>
      toParameter('query', name, schema),
    ),
    ...Object.entries(headers).map(([name, schema]) => toParameter('header', name, schema)),
    ...(idempotency ? [toParameter('header', keyHeader, idempotencyKey)] : []),
  ]
}

/**
 * Describes a body with the rules of `/api`: a POST takes null for an optional field and, without required fields, no
 * body; any other method needs a field. Source: contract 1.1, 1.2.
 */
function requestBodyOf(
  { method, access, bodyType, formBody, examples = {} }: Declaration,
  body: z.ZodType,
  converter: SchemaConverter,
) {
  const schema = converter.toJsonSchema(body)
  if (method === 'post' && access.class !== 'models') takeNulls(converter.resolve(schema))
  return {
    required: method !== 'post' || !body.safeParse({}).success,
    content: {
      [bodyType ?? 'application/json']: {
        schema,
        examples: Object.fromEntries(
          Object.entries(examples).map(([summary, value]) => [
            summary.toLowerCase().replaceAll(' ', '_'),
            { summary, value },
          ]),
        ),
      },
      ...(formBody && { 'multipart/form-data': { schema: converter.toJsonSchema(formBody) } }),
    },
  }
}

/** Adds null to the values of a schema's optional fields. */
function takeNulls({ properties = {}, required = [] }: JsonSchema): void {
  for (const [name, field] of Object.entries(properties)) {
    if (!required.includes(name)) properties[name] = orNull(field)
  }
}

const isNullable = ({ type, anyOf, enum: values }: JsonSchema): boolean =>
  [type].flat().includes('null') || (anyOf?.some(isNullable) ?? values?.includes(null) ?? false)

/** Makes a schema nullable, and keeps its description and its default where readers look for them. */
function orNull(schema: JsonSchema): JsonSchema {
  // An empty schema takes anything.
  if (isNullable(schema) || !(schema.type ?? schema.anyOf ?? schema.oneOf ?? schema.$ref))
    return schema
  if (typeof schema.type === 'string' && !schema.enum && !('const' in schema)) {
    return { ...schema, type: [schema.type, 'null'] }
  }
  const { description, default: initial, ...rest } = schema
  return {
    ...(description !== undefined && { description }),
    ...(initial !== undefined && { default: initial }),
    anyOf: [...(rest.anyOf ?? [rest]), { type: 'null' }],
  }
}

const reasons: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

function answersOf(
  { responses }: { responses: Readonly<Record<number, z.ZodType | MediaAnswer>> },
  converter: SchemaConverter,
) {
  return Object.fromEntries(
    Object.entries(responses).map(([status, answer]) => {
      const { description, content } = toMedia(answer, reasons[status] ?? '')
      const described = Object.entries(content).map(([type, schema]): [string, Media] => [
        type,
        toAnswer(type, schema, converter),
      ])
      return [status, { description, content: Object.fromEntries(described) }]
    }),
  )
}

const toMedia = (answer: z.ZodType | MediaAnswer, reason: string): MediaAnswer =>
  'content' in answer
    ? answer
    : {
        description: answer.description ?? reason,
        content: { 'application/json': answer },
      }

function toAnswer(type: string, schema: z.ZodType, converter: SchemaConverter): Media {
  const converted = converter.toJsonSchema(schema)
  if (type !== 'application/json') return { schema: converted }
  const value = new AnswerSample(converter.components).of(converted)
  return { schema: converted, examples: { answer: { summary: 'An answer', value } } }
}

function errorsOf(declaration: Declaration, converter: SchemaConverter) {
  const { access, params, errors = [], foreignErrors } = declaration
  if (foreignErrors) return answersOf({ responses: foreignErrors }, converter)
  const notFoundCodes: readonly ErrorCode[] =
    params && access.class !== 'models' ? ['resource_not_found'] : []
  const responses = toErrorResponses([...commonErrors[access.class], ...notFoundCodes, ...errors])
  return Object.fromEntries(
    [...responses].map(([status, { description, schema }]) => [
      status,
      {
        description,
        content: { 'application/json': { schema: converter.toJsonSchema(schema) } },
      },
    ]),
  )
}
