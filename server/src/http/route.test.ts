import { describe, expect, test } from 'bun:test'
import { Hono } from 'hono'
import { z } from 'zod'
import { open } from './access'
import { bulkItems } from './bulk'
import type { Env } from './env'
import { SchemaConverter } from './openapi/json-schema'
import { toOperation } from './openapi/operation'
import { pageFields } from './paging'
import { flag } from './query'
import { renderError, toRendered } from './render'
import { route } from './route'

const listing = route({
  method: 'get',
  path: '/shelves/:id/books',
  access: open,
  operationId: 'listBooks',
  tag: 'Books',
  summary: 'List books',
  notes: 'Newest first.',
  params: { id: z.string().describe('ID of the shelf') },
  query: z.object({
    genre: z.enum(['novel', 'poem']).optional(),
    is_lent: flag.optional(),
    ...pageFields,
  }),
  responses: { 200: z.object({ books: z.array(z.string()) }) },
  handler: ({ params, query }) => ({ books: [params.id, JSON.stringify(query)] }),
})

/** Sends a request to a route without its guard. */
async function send({ declaration, serve }: typeof listing, path: string) {
  const app = new Hono<Env>().on(declaration.method.toUpperCase(), declaration.path, serve)
  app.onError((thrown) => renderError(toRendered(thrown), 'req_1'))
  const response = await app.request(path)
  return { status: response.status, body: JSON.parse(await response.text()) }
}

describe('a route', () => {
  test('hands its parsed parameters to the handler and answers with its value', async () => {
    const { status, body } = await send(listing, '/shelves/a%20b/books?is_lent=false&limit=7')
    expect(status).toBe(200)
    expect(body.books[0]).toBe('a b')
    expect(JSON.parse(body.books[1])).toEqual({ is_lent: false, limit: 7, offset: 0 })
  })

  test('rejects an invalid parameter with its name', async () => {
    const { status, body } = await send(listing, '/shelves/a/books?genre=essay')
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', 'genre'])
  })

  test('is described by the schemas that validate it', () => {
    const { parameters, description } = toOperation(listing.declaration, new SchemaConverter())
    expect(description).toBe('Newest first.')
    expect(parameters).toEqual([
      {
        name: 'id',
        in: 'path',
        required: true,
        description: 'ID of the shelf',
        schema: { type: 'string' },
      },
      {
        name: 'genre',
        in: 'query',
        required: false,
        schema: { type: 'string', enum: ['novel', 'poem'] },
      },
      { name: 'is_lent', in: 'query', required: false, schema: { type: 'boolean' } },
      expect.objectContaining({
        name: 'limit',
        schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
      }),
      expect.objectContaining({
        name: 'offset',
        schema: { type: 'integer', minimum: 0, maximum: 10_000, default: 0 },
      }),
      expect.objectContaining({ name: 'cursor', schema: { type: 'string', maxLength: 500 } }),
    ])
  })
})

describe('items of a bulk request', () => {
  const items = bulkItems(z.object({ title: z.string() }))

  test('are validated one by one', () => {
    const [valid, invalid] = items.parse([{ title: 'A' }, { title: 1 }])
    expect(valid).toEqual({ value: { title: 'A' } })
    expect(invalid && 'error' in invalid ? invalid.error.param : undefined).toBe('title')
  })

  test('are described by the schema of an item', () => {
    expect<object>(new SchemaConverter().toJsonSchema(items)).toEqual({
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
    })
  })
})
