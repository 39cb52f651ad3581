import { Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { chats, chatsKey } from './queries'
import { ResourceForm } from '../../components/resource-form'
import { ModelInput } from '../models/model-input'
import { SessionToolFields } from './tool-fields'
import { useGoToChat } from './open-session'
import { sentTools, toolRules, withoutTools } from './session-tools'
import { templatesQuery, type Template } from './template-queries'

interface Props {
  template: Template
  onCancel: () => void
}

/** Fills in the variables of a template and continues in the playground. */
export function StartSession({ template, onCancel }: Props) {
  const { id, name, modelId, variables, enabledTools, disabledTools } = template
  const isNarrow = enabledTools !== null || disabledTools.length > 0
  const queries = useQueryClient()
  const goTo = useGoToChat()
  const form = useForm({
    initialValues: {
      modelId: modelId ?? '',
      gaps: Object.fromEntries(variables.map((gap) => [gap, ''])),
      ...withoutTools,
    },
    validate: toolRules,
  })
  const save = async (fields: typeof form.values) => {
    const { gaps } = fields
    const body = { templateId: id, name, modelId: fields.modelId, variables: gaps }
    const chat = await chats.begin({ ...body, ...sentTools(fields) })
    void queries.invalidateQueries({ queryKey: chatsKey })
    void queries.invalidateQueries(templatesQuery)
    await goTo(chat)
  }
  return (
    <ResourceForm form={form} save={save} label="Start" onCancel={onCancel}>
      {variables.length === 0 && (
        <Text size="sm" c="dimmed">
          This template has no variables.
        </Text>
      )}
      {variables.map((gap) => (
        <Textarea
          key={gap}
          label={gap}
          required
          autosize
          minRows={1}
          maxRows={8}
          maxLength={20_000}
          {...form.getInputProps(`gaps.${gap}`)}
        />
      ))}
      <ModelInput
        label="Model"
        required
        {...form.getInputProps('modelId')}
        value={form.values.modelId}
      />
      <SessionToolFields
        form={form}
        {...(isNarrow && { all: 'All tools that the template allows' })}
      />
    </ResourceForm>
  )
}
