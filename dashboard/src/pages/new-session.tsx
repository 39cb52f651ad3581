import { Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { talks, talksKey } from '../automation'
import { FormFrame } from '../components/form-frame'
import { ModelInput } from '../components/model-input'
import { SessionToolFields } from '../components/tool-fields'
import { useGoToTalk } from '../go-to-talk'
import { sentTools, toolRules, withoutTools } from '../session-tools'
import { useSubmit } from '../submit'

const initialValues = { name: '', modelId: '', systemPrompt: '', ...withoutTools }

/** Creates a session and opens the page where messages can be sent. */
export function NewSession({ onCancel }: { onCancel: () => void }) {
  const queries = useQueryClient()
  const goTo = useGoToTalk()
  const form = useForm({ initialValues, validate: toolRules })
  const submission = useSubmit(async (fields: typeof initialValues) => {
    const { name, modelId, systemPrompt } = fields
    const talk = await talks.begin({
      modelId,
      ...sentTools(fields),
      ...(name && { name }),
      ...(systemPrompt && { systemPrompt }),
    })
    void queries.invalidateQueries({ queryKey: talksKey })
    await goTo(talk)
  }, form)
  return (
    <FormFrame form={form} submission={submission} label="Start" onCancel={onCancel}>
      <TextInput
        label="Name"
        description="The topic"
        maxLength={200}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <ModelInput
        label="Model"
        required
        {...form.getInputProps('modelId')}
        value={form.values.modelId}
      />
      <Textarea
        label="System prompt"
        description="Instructions before the conversation"
        autosize
        minRows={2}
        maxRows={8}
        maxLength={20_000}
        {...form.getInputProps('systemPrompt')}
      />
      <SessionToolFields form={form} />
    </FormFrame>
  )
}
