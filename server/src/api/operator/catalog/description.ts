import { AppliedCatalog, CatalogApplied, CatalogPreview, CatalogSource } from './schema'
import { operatorRoute } from '../../../http/documentation'

const tag = 'Models'
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

export const described = {
  preview: operatorRoute({
    operationId: 'previewCatalog',
    summary: 'What a catalogue document would change; nothing is changed',
    tag,
    answer: CatalogPreview,
    body: ['CatalogSource', CatalogSource, { 'A document as text': { document } }],
  }),
  apply: operatorRoute({
    operationId: 'applyCatalog',
    summary: 'Take over the models and prices of a document that was previewed',
    tag,
    answer: CatalogApplied,
    body: [
      'AppliedCatalog',
      AppliedCatalog,
      {
        'What was shown': {
          document,
          digest: new Bun.CryptoHasher('sha256').update(document).digest('hex'),
        },
      },
    ],
  }),
}
