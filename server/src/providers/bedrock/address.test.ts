import { expect, test } from 'bun:test'
import { baseUrlOf, listUrlOf, toBaseModel, pathOf, parseRegion } from './address'

test.each([
  ['us-east-1', 'https://bedrock-runtime.us-east-1.amazonaws.com'],
  ['us-gov-west-1', 'https://bedrock-runtime.us-gov-west-1.amazonaws.com'],
  ['cn-north-1', 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn'],
  ['us-iso-east-1', 'https://bedrock-runtime.us-iso-east-1.c2s.ic.gov'],
  ['us-isob-east-1', 'https://bedrock-runtime.us-isob-east-1.sc2s.sgov.gov'],
  ['eusc-de-east-1', 'https://bedrock-runtime.eusc-de-east-1.amazonaws.eu'],
])('the models of %s are at %s', (region, url) => {
  expect(baseUrlOf(region)).toBe(url)
  expect(parseRegion(url)).toBe(region)
})

test('reads the region from an address, or has none', () => {
  expect(parseRegion('https://bedrock-runtime-fips.us-west-2.amazonaws.com')).toBe('us-west-2')
  expect(parseRegion('https://vpce-0a1b-2c.bedrock-runtime.eu-west-3.vpce.amazonaws.com')).toBe(
    'eu-west-3',
  )
  expect(parseRegion('https://bedrock.example.com')).toBeUndefined()
})

test('rankings are signed for the region of their own host', () => {
  expect(parseRegion('https://bedrock-agent-runtime.eu-central-1.amazonaws.com/rerank')).toBe(
    'eu-central-1',
  )
})

test('models are listed at another host of the same region, which is signed for', () => {
  const listUrl = listUrlOf('https://bedrock-runtime.eu-west-1.amazonaws.com') ?? ''
  expect(listUrl).toBe('https://bedrock.eu-west-1.amazonaws.com/foundation-models')
  expect(parseRegion(listUrl)).toBe('eu-west-1')
  const fips = listUrlOf('https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com') ?? ''
  expect(fips).toBe('https://bedrock-fips.us-gov-west-1.amazonaws.com/foundation-models')
  expect(parseRegion(fips)).toBe('us-gov-west-1')
})

test.each([
  'https://vpce-0a1b-2c.bedrock-runtime.eu-west-3.vpce.amazonaws.com',
  'http://127.0.0.1:8080',
  'https://bedrock-runtime.example.com/behind/a/path',
  'https://proxy.example.com',
])('%s is not a region’s own address', (address) => {
  expect(listUrlOf(address)).toBeUndefined()
})

test('an id goes into the path as one step', () => {
  expect(pathOf('us.amazon.nova-lite-v1:0', 'converse-stream')).toBe(
    '/model/us.amazon.nova-lite-v1%3A0/converse-stream',
  )
  expect(pathOf('arn:aws:bedrock:us-east-1:1:inference-profile/eu.x-v1:0', 'invoke')).toBe(
    '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Feu.x-v1%3A0/invoke',
  )
})

test.each([
  ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['us.amazon.nova-pro-v1:0', 'amazon.nova-pro-v1:0'],
  ['eu.amazon.nova-pro-v1:0', 'amazon.nova-pro-v1:0'],
  ['global.anthropic.claude-opus-4-6-v1', 'anthropic.claude-opus-4-6-v1'],
  ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['arn:aws:bedrock:us-east-1::foundation-model/meta.llama3-8b-v1:0', 'meta.llama3-8b-v1:0'],
  [
    'arn:aws:bedrock:eu-west-1:1:inference-profile/eu.amazon.nova-lite-v1:0',
    'amazon.nova-lite-v1:0',
  ],
  ['arn:aws:bedrock:us-east-1:1:application-inference-profile/ab12', 'ab12'],
])('%s is %s', (id, model) => expect(toBaseModel(id)).toBe(model))
