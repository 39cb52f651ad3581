import { z } from 'zod'
import { toGoogleError } from '../google/failure'
import { addressOf, type ProviderRoute } from '../provider-route'
import type { RerankFormat } from '../rerank-format'
import { unsupported } from '../unsupported-fields'

const Answer = z.looseObject({
  records: z.array(z.looseObject({ id: z.string().regex(/^\d{1,6}$/), score: z.number() })),
})

/**
 * The ranking API of Vertex AI, which another host of Google Cloud serves, for a project.
 * @see https://docs.cloud.google.com/generative-ai-app-builder/docs/ranking
 * @see https://docs.cloud.google.com/generative-ai-app-builder/docs/reference/rest/v1/projects.locations.rankingConfigs/rank
 */
export const vertexRerank: RerankFormat = {
  cutsDocuments: false,
  // Documents are cut, never divided: https://cloud.google.com/generative-ai-app-builder/pricing
  tokensPerPart: Infinity,
  url: toRankingUrl,
  write: ({ upstreamModel: model, query, documents, topN }) => ({
    model,
    query,
    records: documents.map((content, index) => ({ id: String(index), content })),
    topN,
    ignoreRecordDetailsInResponse: true,
  }),
  listIn: (answer) => {
    const parsed = Answer.safeParse(answer)
    return parsed.success
      ? parsed.data.records.map(({ id, score }) => ({ index: Number(id), score }))
      : undefined
  },
  toError: toGoogleError,
}

const ownHost = /^https:\/\/(?:[a-z0-9-]+-)?aiplatform\.(?:[a-z]+\.rep\.)?googleapis\.com\//

/** Throws `invalid_request` for a connection by an API key, which names no project. */
function toRankingUrl(line: ProviderRoute): string {
  const address = addressOf(line)
  const [, base, project] = /^(.*)\/projects\/([^/]+)(?:\/|$)/.exec(address) ?? []
  if (base === undefined || project === undefined) {
    throw unsupported('model', 'model: the connection to Vertex AI needs a project to rank.')
  }
  const service = ownHost.test(address) ? 'https://discoveryengine.googleapis.com/v1' : base
  const config = 'locations/global/rankingConfigs/default_ranking_config'
  return `${service}/projects/${project}/${config}:rank`
}
