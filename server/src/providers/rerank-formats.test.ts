import { describe, expect, test } from 'bun:test'
import { providers } from './registry'
import type { ProviderRoute } from './provider-route'
import { readRerank, rerankFormatOf, toUpstreamRerank } from './rerank-formats'
import type { ErrorSource } from './upstream-error'
import { ApiError } from '../errors'

const lineOf = (
  key: string,
  baseUrl: string | null,
  options: ProviderRoute['connection']['options'] = {},
): ProviderRoute => {
  const provider = providers.find((one) => one.key === key)
  if (!provider) throw new Error(`no provider ${key}`)
  return { provider, connection: { baseUrl, secret: 'secret', options } }
}
const urlOf = (line: ProviderRoute) => rerankFormatOf(line.provider).url?.(line)

const failureOf = (work: () => unknown): unknown => {
  try {
    work()
  } catch (thrown) {
    if (thrown instanceof ApiError) return [thrown.param, thrown.details]
    throw thrown
  }
  throw new Error('nothing was thrown')
}

const request = { model: 'any', query: 'q', documents: ['a', 'b', 'c'], top_n: 2 }
const source: ErrorSource = {
  provider: 'any',
  secret: null,
  textField: 'documents',
  wasSent: () => true,
  contextLength: null,
  maxOutputTokens: null,
}

const arnOf = (upstreamModel: string, line: ProviderRoute): string =>
  /"modelArn":"([^"]*)"/.exec(
    JSON.stringify(toUpstreamRerank({}, request, { upstreamModel, line })),
  )?.[1] ?? ''

const readOfVertex = (records: unknown) => {
  const format = rerankFormatOf(lineOf('vertex', null).provider)
  return readRerank({ records }, { request, format }, source)
}

describe('Amazon Bedrock', () => {
  test.each([
    [
      'https://bedrock-runtime.us-west-2.amazonaws.com',
      'https://bedrock-agent-runtime.us-west-2.amazonaws.com/rerank',
    ],
    [
      'https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com',
      'https://bedrock-agent-runtime-fips.us-gov-west-1.amazonaws.com/rerank',
    ],
    ['http://127.0.0.1:9', 'http://127.0.0.1:9/rerank'],
  ])('%s ranks at %s', (address, expected) => {
    expect(urlOf(lineOf('bedrock', address))).toBe(expected)
  })

  test.each([
    ['us-west-2', 'arn:aws:bedrock:us-west-2::foundation-model/amazon.rerank-v1:0'],
    ['us-gov-west-1', 'arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/amazon.rerank-v1:0'],
    ['cn-north-1', 'arn:aws-cn:bedrock:cn-north-1::foundation-model/amazon.rerank-v1:0'],
  ])('a model of %s is %s', (region, expected) => {
    const address = `https://bedrock-runtime.${region}.amazonaws.com`
    expect(arnOf('amazon.rerank-v1:0', lineOf('bedrock', address))).toBe(expected)
    const option = lineOf('bedrock', 'http://127.0.0.1:9', { region })
    expect(arnOf('amazon.rerank-v1:0', option)).toBe(expected)
  })

  test('an ARN stays as it is', () => {
    const arn = 'arn:aws:bedrock:eu-central-1::foundation-model/cohere.rerank-v3-5:0'
    expect(arnOf(arn, lineOf('bedrock', 'http://127.0.0.1:9'))).toBe(arn)
  })

  test('without a region no model has a name', () => {
    const line = lineOf('bedrock', 'http://127.0.0.1:9')
    expect(failureOf(() => arnOf('amazon.rerank-v1:0', line))).toEqual([
      'model',
      { issue: 'unsupported_by_model' },
    ])
  })
})

describe('Vertex AI', () => {
  const config = 'projects/p-1/locations/global/rankingConfigs/default_ranking_config:rank'

  test.each([
    'https://aiplatform.googleapis.com/v1/projects/p-1/locations/global',
    'https://us-central1-aiplatform.googleapis.com/v1/projects/p-1/locations/us-central1',
    'https://aiplatform.eu.rep.googleapis.com/v1/projects/p-1/locations/eu',
  ])('%s ranks at Discovery Engine', (address) => {
    expect(urlOf(lineOf('vertex', address))).toBe(
      `https://discoveryengine.googleapis.com/v1/${config}`,
    )
  })

  test('an address in place of Google’s is kept', () => {
    const address = 'http://127.0.0.1:9/v1/projects/p-1/locations/global'
    expect(urlOf(lineOf('vertex', address))).toBe(`http://127.0.0.1:9/v1/${config}`)
  })

  test('an API key, which names no project, does not rank', () => {
    expect(failureOf(() => urlOf(lineOf('vertex', null)))).toEqual([
      'model',
      { issue: 'unsupported_by_model' },
    ])
  })

  test('records are scores by the index that is their id', () => {
    const records = [
      { id: '0', score: 0.1 },
      { id: '2', score: 0.9 },
    ]
    expect(readOfVertex(records).scores).toEqual([
      { index: 2, score: 0.9 },
      { index: 0, score: 0.1 },
    ])
  })

  test.each([
    ['no records', undefined],
    ['a foreign id', [{ id: 'x', score: 1 }]],
    [
      'another document',
      [
        { id: '0', score: 1 },
        { id: '3', score: 1 },
      ],
    ],
    ['no score', [{ id: '0' }, { id: '1' }]],
    ['fewer results', [{ id: '0', score: 1 }]],
  ])('an answer with %s is rejected', (_what, records) => {
    expect(() => readOfVertex(records)).toThrow(expect.objectContaining({ code: 'provider_error' }))
  })
})
