import { parseRegion, partitionOf } from './address'
import { toError } from './failure'
import { addressOf, type ProviderRoute } from '../provider-route'
import type { RerankFormat } from '../rerank-format'
import { unsupported } from '../unsupported-fields'

/**
 * Bedrock's rankings, which another host of the region serves for the models of all vendors. It takes no API keys, but
 * requests that are signed. @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_Rerank.html
 */
export const bedrockRerank: RerankFormat = {
  cutsDocuments: false,
  // A document longer than this, with the query, counts as several: https://aws.amazon.com/bedrock/pricing/
  tokensPerPart: 512,
  url: (line) =>
    `${addressOf(line).replace('//bedrock-runtime', '//bedrock-agent-runtime')}/rerank`,
  write: ({ upstreamModel, query, documents, topN }, line) => ({
    queries: [{ type: 'TEXT', textQuery: { text: query } }],
    sources: documents.map((text) => ({
      type: 'INLINE',
      inlineDocumentSource: { type: 'TEXT', textDocument: { text } },
    })),
    rerankingConfiguration: {
      type: 'BEDROCK_RERANKING_MODEL',
      bedrockRerankingConfiguration: {
        modelConfiguration: { modelArn: toModelArn(upstreamModel, line) },
        numberOfResults: topN,
      },
    },
  }),
  toError,
}

/** Throws `invalid_request` where the region of a connection is not known. */
function toModelArn(upstreamModel: string, line: ProviderRoute): string {
  if (upstreamModel.startsWith('arn:')) return upstreamModel
  const region = line.connection.options.region ?? parseRegion(addressOf(line))
  if (region !== undefined) {
    return `arn:${partitionOf(region)}:bedrock:${region}::foundation-model/${upstreamModel}`
  }
  throw unsupported('model', 'model: the connection to Amazon Bedrock needs its region to rank.')
}
