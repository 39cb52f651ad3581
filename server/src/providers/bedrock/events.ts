import { z } from 'zod'

/** One event of ConverseStream, as `FrameReader` writes it; only the fields that are read. A null is absent. */
export const ConverseEvent = z.looseObject({
  contentBlockStart: z
    .looseObject({
      contentBlockIndex: z.int(),
      start: z.looseObject({
        toolUse: z.looseObject({ toolUseId: z.string(), name: z.string() }).nullish(),
      }),
    })
    .nullish(),
  contentBlockDelta: z
    .looseObject({
      contentBlockIndex: z.int(),
      delta: z.looseObject({
        text: z.string().nullish(),
        toolUse: z.looseObject({ input: z.string().nullish() }).nullish(),
        citation: z.looseObject({}).nullish(),
        reasoningContent: z
          .looseObject({
            text: z.string().nullish(),
            signature: z.string().nullish(),
            redactedContent: z.string().nullish(),
          })
          .nullish(),
      }),
    })
    .nullish(),
  contentBlockStop: z.looseObject({ contentBlockIndex: z.int() }).nullish(),
  messageStop: z
    .looseObject({
      stopReason: z.string(),
      additionalModelResponseFields: z
        .looseObject({ stop_sequence: z.string().nullish() })
        .nullish(),
    })
    .nullish(),
  metadata: z.looseObject({ usage: z.unknown().optional() }).nullish(),
  exception: z.looseObject({ type: z.string().nullish(), message: z.string().nullish() }).nullish(),
})
export type ConverseEvent = z.infer<typeof ConverseEvent>
