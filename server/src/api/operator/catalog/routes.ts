import { AppliedCatalog, CatalogApplied, CatalogPreview, CatalogSource } from './schema'
import type { CatalogUpdateStore } from './store'
import { operator } from '../../../http/access'
import { route, type Route } from '../../../http/route'

const tag = 'Models'
const access = operator({ body: 'bulk' })
const path = '/api/admin/catalog'

const model = {
  id: 'openai/gpt-4o',
  name: 'GPT-4o',
  category: 'chat',
  input: ['text', 'image'],
  output: ['text'],
  capabilities: ['tools'],
  created: 1_715_558_400,
  price: { input: 2.5, output: 10, cached_input: 1.25 },
}
const document = JSON.stringify({ date: '2026-11-23', models: [model] })
const digest = new Bun.CryptoHasher('sha256').update(document).digest('hex')

/** Updates models and prices from a document, for the operator: preview, then apply. */
export const catalogUpdateRoutes = (updates: CatalogUpdateStore): Route[] => [
  previewCatalog(updates),
  applyCatalog(updates),
]

const previewCatalog = (updates: CatalogUpdateStore) =>
  route({
    method: 'post',
    path: `${path}/preview`,
    access,
    operationId: 'previewCatalog',
    tag,
    summary: 'Preview a catalogue update',
    notes: 'Lists the changes that the document would make. Nothing is changed.',
    body: CatalogSource,
    examples: { 'A document as text': { document } },
    responses: { 200: CatalogPreview },
    handler: ({ body }) => updates.preview(body),
  })

const applyCatalog = (updates: CatalogUpdateStore) =>
  route({
    method: 'post',
    path: `${path}/apply`,
    access,
    operationId: 'applyCatalog',
    tag,
    summary: 'Apply a catalogue update',
    notes: 'Sets the models and prices of a document that was previewed.',
    body: AppliedCatalog,
    examples: { 'A previewed document': { document, digest } },
    responses: { 200: CatalogApplied },
    handler: ({ body }) => updates.apply(body),
  })
