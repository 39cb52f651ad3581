import { expect, test } from 'bun:test'
import { bflImages } from './images'

const requestOf = (upstreamModel: string, size?: string) =>
  bflImages.request(
    { prompt: '', size },
    {
      upstreamModel,
      count: 1,
      maxTokensPerImage: 0,
      inputs: [{ mimeType: 'image/png', base64: 'AAAA' }],
      isVariation: true,
    },
  )

test('a variation has the image in place of a prompt', () => {
  expect(requestOf('flux-pro-1.1', '1024x768')).toMatchObject({
    path: '/flux-pro-1.1',
    body: { image_prompt: 'AAAA', width: 1024, height: 768 },
  })
  expect(requestOf('flux-pro-1.1').body).toEqual({ image_prompt: 'AAAA' })
})

test('the ultra model, which mixes image and prompt, takes the image alone', () => {
  expect(requestOf('flux-pro-1.1-ultra', '1536x1024').body).toEqual({
    image_prompt: 'AAAA',
    image_prompt_strength: 1,
    aspect_ratio: '3:2',
  })
})

test.each([
  ['flux-pro', true],
  ['flux-pro-1.1', true],
  ['flux-pro-1.1-ultra', true],
  ['flux-pro-1.0-fill', false],
  ['flux-dev', false],
  ['flux-kontext-pro', false],
  ['flux-2-pro', false],
])('%s makes variations: %p', (model, isVarying) => {
  expect(bflImages.varies?.(model)).toBe(isVarying)
})
