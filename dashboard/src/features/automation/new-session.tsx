import { Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { chats, chatsKey } from './queries'
import { ResourceForm } from '../../components/resource-form'
import { ModelInput } from '../models/model-input'
import { SessionToolFields } from './tool-fields'
import { useGoToChat } from './open-session'
import { sentTools, toolRules, withoutTools } from './session-tools'

const initialValues = { name: '', modelId: '', systemPrompt: '', ...withoutTools }

/** Creates a session and opens the page where messages can be sent. */
export function NewSession({ onCancel }: { onCancel: () => void }) {
  const queries = useQueryClient()
  const goTo = useGoToChat()
  const form = useForm({ initialValues, validate: toolRules })
  const save = async (fields: typeof initialValues) => {
    const { name, modelId, systemPrompt } = fields
    const chat = await chats.begin({
      modelId,
      ...sentTools(fields),
      ...(name && { name }),
      ...(systemPrompt && { systemPrompt }),
    })
    void queries.invalidateQueries({ queryKey: chatsKey })
    await goTo(chat)
  }
  return (
    <ResourceForm form={form} save={save} label="Start" onCancel={onCancel}>
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
    </ResourceForm>
  )
}
