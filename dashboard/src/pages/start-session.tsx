import { Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { talks, talksKey } from '../automation'
import { FormFrame } from '../components/form-frame'
import { ModelInput } from '../components/model-input'
import { SessionToolFields } from '../components/tool-fields'
import { useGoToTalk } from '../go-to-talk'
import { sentTools, toolRules, withoutTools } from '../session-tools'
import { useSubmit } from '../submit'
import { templatesQuery, type Template } from '../templates'

interface Props {
  template: Template
  onCancel: () => void
}

/** Fills in the variables of a template and continues in the playground. */
export function StartSession({ template, onCancel }: Props) {
  const { id, name, modelId, variables, enabledTools, disabledTools } = template
  const isNarrow = enabledTools !== null || disabledTools.length > 0
  const queries = useQueryClient()
  const goTo = useGoToTalk()
  const form = useForm({
    initialValues: {
      modelId: modelId ?? '',
      gaps: Object.fromEntries(variables.map((gap) => [gap, ''])),
      ...withoutTools,
    },
    validate: toolRules,
  })
  const submission = useSubmit(async (fields: typeof form.values) => {
    const { gaps } = fields
    const made = { templateId: id, name, modelId: fields.modelId, variables: gaps }
    const talk = await talks.begin({ ...made, ...sentTools(fields) })
    void queries.invalidateQueries({ queryKey: talksKey })
    void queries.invalidateQueries(templatesQuery)
    await goTo(talk)
  }, form)
  return (
    <FormFrame form={form} submission={submission} label="Start" onCancel={onCancel}>
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
    </FormFrame>
  )
}
