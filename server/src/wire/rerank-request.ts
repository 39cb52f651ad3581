import { z } from 'zod'
import { maybe, modelField, text } from './fields'
import { toSparse } from './sparse'

const NonEmptyText = z.string().min(1)
const maxDocuments = 2048
const maxQuery = 100_000

const Document = z.union([NonEmptyText, z.looseObject({ text: NonEmptyText })])
export type RerankDocument = z.output<typeof Document>

/** `POST /v1/rerank`, in the form that Cohere and Jina have in common. Source: contract 4.12. */
export const RerankRequest = toSparse(
  z.looseObject({
    model: modelField,
    query: text(maxQuery, 1),
    documents: z
      .array(Document)
      .min(1)
      .max(maxDocuments)
      .describe('Texts, or objects with a `text`'),
    top_n: maybe(z.int().min(1)).describe('Maximum number of results; all documents by default'),
    return_documents: maybe(z.boolean()).describe('Repeat each document in its result'),
    max_tokens_per_doc: maybe(z.int().min(1)).describe(
      'Tokens after which Cohere cuts a document; 4,096 by default. Other providers do not receive it',
    ),
  }),
)
export type RerankRequest = z.output<typeof RerankRequest>

export const textOfDocument = (document: RerankDocument): string =>
  typeof document === 'string' ? document : document.text

/** A document as a result repeats it: a text as an object with it. */
export const toReturnedDocument = (document: RerankDocument): object =>
  typeof document === 'string' ? { text: document } : document

/** The number of results of a request. */
export const countResults = ({
  documents,
  top_n: topN,
}: Pick<RerankRequest, 'documents' | 'top_n'>): number =>
  Math.min(topN ?? documents.length, documents.length)
