import type { Context, Handler } from 'hono'
import type { ParamKeys } from 'hono/types'
import type { z } from 'zod'
import type { Access, AccountAccess } from './access'
import type { Env } from './env'
import { answerIdempotently, type RepeatPorts } from './answer-once'
import { readFields } from './fields'
import type { Principal } from '../auth/principal'
import type { ErrorCode } from '../errors'
import { check, isObject } from '../wire/json-body'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

const statuses = [200, 201, 202] as const
type Status = (typeof statuses)[number]

/** An answer that is not only JSON: a schema for each content type. */
export interface MediaAnswer {
  description: string
  content: Readonly<Record<string, z.ZodType>>
}

/** Successful answers by status. A schema stands for JSON. */
type Responses = Readonly<Partial<Record<Status, z.ZodType | MediaAnswer>>>

/** Schemas of parameters by name. */
type Parameters = Readonly<Record<string, z.ZodType>>

/** The declaration of an endpoint apart from its handler: all that its description in OpenAPI needs. */
export interface Declaration {
  method: Method
  /** As the router reads it: `/api/user/prompts/:id`. */
  path: string
  access: Access
  operationId: string
  tag: string
  summary: string
  /** Notes beyond the summary; access and body limit are added to the description. */
  notes?: string
  /** Parameters of the path, of the query and of headers. */
  params?: Parameters
  query?: z.ZodObject
  headers?: Parameters
  body?: z.ZodType
  /** The content type of the body, where that is not JSON. */
  bodyType?: 'multipart/form-data'
  /** The body as a form, where it may be JSON or one. */
  formBody?: z.ZodType
  /** Makes repeats with the same `Idempotency-Key` get the first answer. */
  idempotency?: RepeatPorts
  /** Bodies by title, each an example of a whole request. */
  examples?: Readonly<Record<string, unknown>>
  responses: Responses
  /** Error codes beyond those that every route of its access has. */
  errors?: readonly ErrorCode[]
  /** Error responses in another format than that of `errors.ts`, by status; they replace all others. */
  foreignErrors?: Readonly<Record<number, MediaAnswer>>
}

/** An endpoint, ready to be mounted. */
export interface Route {
  declaration: Declaration
  serve: Handler<Env>
  /** Whether `serve` authenticates by itself. */
  isGuarded?: true
}

/** The declared parts of a request, parsed, and its context for the rest. */
interface Input<A extends Access, Path extends string, Query, Body> {
  c: Context<Env>
  principal: A extends AccountAccess ? Principal : undefined
  params: Record<ParamKeys<Path>, string>
  query: Query
  body: Body
  /** Marks the start of a side effect that must not happen twice, where the endpoint has `idempotency`. */
  dispatched: () => void
}

/** Parameters of the path are declared exactly where it has some. */
type PathParameters<Path extends string> = [ParamKeys<Path>] extends [never]
  ? { params?: undefined }
  : { params: Readonly<Record<ParamKeys<Path>, z.ZodType>> }

type JsonOf<Answer> = Answer extends z.ZodType ? z.input<Answer> : never

/** Types the parts of a declaration by each other. */
type Typed<
  Path extends string,
  A extends Access,
  Answers extends Responses,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
> = Omit<Declaration, 'params'> &
  PathParameters<Path> & {
    path: Path
    access: A
    responses: Answers
    query?: Query
    body?: Body
    examples?: Readonly<Record<string, z.input<Body>>>
    handler: (
      input: Input<A, Path, z.output<Query>, z.output<Body>>,
    ) => Answered<Answers> | Promise<Answered<Answers>>
  }

/** A value is the JSON of the only declared status; other answers are whole responses. */
type Answered<Answers extends Responses> = JsonOf<Answers[keyof Answers]> | Response

/** A declaration whose parts the signature of `route` has already related to each other. */
interface Untyped extends Declaration {
  body?: z.ZodObject
  handler: (input: Input<AccountAccess, string, unknown, unknown>) => unknown
}

/**
 * Declares an endpoint: its access, its parameters, its body and its answers, each by the schema that also describes
 * it in OpenAPI, and the handler of a valid request. `handler` rejects with `ApiError`.
 */
export function route<
  const Path extends string,
  A extends Access,
  Answers extends Responses,
  Query extends z.ZodObject = z.ZodObject<Record<string, never>>,
  Body extends z.ZodObject = z.ZodObject<Record<string, never>>,
>(typed: Typed<Path, A, Answers, Query, Body>): Route
export function route({ handler, ...declaration }: Untyped): Route {
  const { query, body, responses, idempotency } = declaration
  const [status] = statuses.filter((one) => responses[one] !== undefined)

  async function answer(
    c: Context<Env>,
    requestBody: unknown,
    dispatched: () => void,
  ): Promise<Response> {
    const result = await handler({
      c,
      principal: c.var.principal,
      params: c.req.param(),
      query: query && check(query, c.req.query()),
      body: body && check(body, requestBody),
      dispatched,
    })
    if (result instanceof Response) return result
    return c.body(JSON.stringify(result), status, { 'content-type': 'application/json' })
  }

  return {
    declaration,
    serve: async (c) => {
      const requestBody = body && (await readFields(c, body))
      if (!idempotency || !isObject(requestBody)) return answer(c, requestBody, () => undefined)
      return answerIdempotently(c, { ...idempotency, body: requestBody }, (dispatched) =>
        answer(c, requestBody, dispatched),
      )
    },
  }
}
