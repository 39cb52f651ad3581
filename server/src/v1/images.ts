import { z } from 'zod'
import { imageErrors, modelHeaders } from './description'
import { modelRoute } from './endpoint'
import { respond, type ReplyPorts } from './reply'
import type { Gateway } from '../gateway/gateway'
import { modelKey } from '../http/access'
import type { Route } from '../http/route'
import { ImageEditForm, ImageVariationForm } from '../wire/image-form'
import { ImageEditRequest, ImageRequest, ImageVariationRequest } from '../wire/image-request'

const Images = z
  .looseObject({
    created: z.number(),
    model: z.string(),
    data: z.array(
      z.looseObject({
        b64_json: z.string().optional(),
        url: z.string().optional().describe('An address of the provider, or a data URL'),
        revised_prompt: z.string().optional(),
      }),
    ),
    size: z.string().optional(),
    quality: z.string().optional(),
    usage: z.looseObject({
      input_tokens: z.int(),
      input_tokens_details: z.looseObject({ text_tokens: z.int(), image_tokens: z.int() }),
      output_tokens: z.int(),
      total_tokens: z.int(),
    }),
  })
  .meta({
    ref: 'Images',
    examples: [
      {
        created: 1_795_219_200,
        model: 'sandbox/image',
        data: [{ b64_json: 'iVBORw0KGgo=', revised_prompt: 'Simulated: a lighthouse at dusk' }],
        size: '1024x1024',
        quality: 'low',
        usage: {
          input_tokens: 5,
          input_tokens_details: { text_tokens: 5, image_tokens: 0 },
          output_tokens: 0,
          output_tokens_details: { text_tokens: 0, image_tokens: 0 },
          total_tokens: 5,
        },
      },
    ],
  })

const variationRoute = (gateway: Gateway, ports: ReplyPorts): Route =>
  modelRoute({
    method: 'post',
    path: '/v1/images/variations',
    access: modelKey('write'),
    operationId: 'varyImages',
    tag: 'Models',
    summary: 'Create variations of an image',
    notes:
      "As JSON, where the image is an address or a data URL, or as a form, where it is a file of at most 23 MB. For servers of OpenAI's form, Amazon's models at Bedrock, FLUX.1 of Black Forest Labs, and the sandbox.",
    headers: modelHeaders,
    body: ImageVariationRequest.meta({ ref: 'ImageVariationRequest' }),
    formBody: ImageVariationForm.meta({ ref: 'ImageVariationForm' }),
    examples: {
      'One image': {
        model: 'sandbox/image',
        images: [{ image_url: 'data:image/png;base64,iVBORw0KGgo=' }],
        size: '256x256',
      },
    },
    responses: { 200: Images.describe('The images') },
    errors: imageErrors,
    handler: (call) => respond(call, gateway.varyImages, ports),
  })

export const imageRoutes = (gateway: Gateway, ports: ReplyPorts): Route[] => [
  modelRoute({
    method: 'post',
    path: '/v1/images/generations',
    access: modelKey('write'),
    operationId: 'createImage',
    tag: 'Models',
    summary: 'Create images from a text',
    notes:
      "In OpenAI's form, for the models of every provider. `sandbox/image` draws a pattern without a provider.",
    headers: modelHeaders,
    body: ImageRequest.meta({ ref: 'ImageRequest' }),
    examples: {
      'One image': { model: 'sandbox/image', prompt: 'A lighthouse at dusk', size: '256x256' },
    },
    responses: { 200: Images.describe('The images') },
    errors: imageErrors,
    handler: (call) => respond(call, gateway.generateImages, ports),
  }),
  modelRoute({
    method: 'post',
    path: '/v1/images/edits',
    access: modelKey('write'),
    operationId: 'editImages',
    tag: 'Models',
    summary: 'Create images from others and a text',
    notes:
      'As JSON, where images are addresses or data URLs, or as a form, where they are files of at most 23 MB together.',
    headers: modelHeaders,
    body: ImageEditRequest.meta({ ref: 'ImageEditRequest' }),
    formBody: ImageEditForm.meta({ ref: 'ImageEditForm' }),
    examples: {
      'One image': {
        model: 'sandbox/image',
        prompt: 'At dusk',
        images: [{ image_url: 'data:image/png;base64,iVBORw0KGgo=' }],
        size: '256x256',
      },
    },
    responses: { 200: Images.describe('The images') },
    errors: imageErrors,
    handler: (call) => respond(call, gateway.editImages, ports),
  }),
  variationRoute(gateway, ports),
]
