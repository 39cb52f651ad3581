import { z } from 'zod'

/** One event of ConverseStream, as `FrameReader` writes it; only the fields that are read. */
export const ConverseEvent = z.looseObject({
  contentBlockStart: z
    .looseObject({
      contentBlockIndex: z.int(),
      start: z.looseObject({
        toolUse: z.looseObject({ toolUseId: z.string(), name: z.string() }).optional(),
      }),
    })
    .optional(),
  contentBlockDelta: z
    .looseObject({
      contentBlockIndex: z.int(),
      delta: z.looseObject({
        text: z.string().optional(),
        toolUse: z.looseObject({ input: z.string().default('') }).optional(),
        reasoningContent: z
          .looseObject({
            text: z.string().optional(),
            signature: z.string().optional(),
            redactedContent: z.string().optional(),
          })
          .optional(),
      }),
    })
    .optional(),
  contentBlockStop: z.looseObject({ contentBlockIndex: z.int() }).optional(),
  messageStop: z.looseObject({ stopReason: z.string() }).optional(),
  metadata: z.looseObject({ usage: z.unknown().optional() }).optional(),
  exception: z
    .looseObject({ type: z.string().optional(), message: z.string().optional() })
    .optional(),
})
export type ConverseEvent = z.infer<typeof ConverseEvent>
