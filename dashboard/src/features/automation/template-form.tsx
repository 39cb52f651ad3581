import { Code, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client'
import { toBody } from '../../components/changed-fields'
import { ResourceForm } from '../../components/resource-form'
import { ModelInput } from '../models/model-input'
import { namesIn, templatesQuery, type Template } from './template-queries'

const fieldsOf = (template: Template | undefined) => ({
  name: template?.name ?? '',
  description: template?.description ?? '',
  modelId: template?.modelId ?? '',
  systemPrompt: template?.systemPrompt ?? '',
  initialMessage: template?.initialMessage ?? '',
  isPublic: template?.isPublic ?? false,
})

type Fields = ReturnType<typeof fieldsOf>

const gapsOf = ({ systemPrompt, initialMessage }: Fields) => namesIn(systemPrompt, initialMessage)

interface Props {
  /** Undefined for a new template. */
  template?: Template
  onClose: () => void
}

/** Creates or edits a template. */
export function TemplateForm({ template, onClose }: Props) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: fieldsOf(template) })
  const save = async (fields: Fields) => {
    const values = { ...fields, variables: gapsOf(fields) }
    await (template
      ? api.PUT('/api/automation/templates/{id}', {
          params: { path: { id: template.id } },
          body: toBody<Schemas['ChangedAutomationTemplate']>(values),
        })
      : api.POST('/api/automation/templates', {
          body: toBody<Schemas['NewAutomationTemplate']>(values),
        }))
    await queries.invalidateQueries(templatesQuery)
    notifications.show({ message: `${fields.name} was ${template ? 'updated' : 'created'}.` })
    onClose()
  }
  return (
    <ResourceForm form={form} save={save} label={template ? 'Save' : 'Create'} onCancel={onClose}>
      <TextInput
        label="Name"
        required
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <TextInput label="Description" maxLength={1000} {...form.getInputProps('description')} />
      <ModelInput
        label="Model"
        description="If empty, it is selected when a session starts."
        {...form.getInputProps('modelId')}
        value={form.values.modelId}
      />
      <Texts form={form} />
      <Switch
        label="Public"
        description="All users of this service can see and use it."
        {...form.getInputProps('isPublic', { type: 'checkbox' })}
      />
    </ResourceForm>
  )
}

function Texts({ form }: { form: UseFormReturnType<Fields> }) {
  const gaps = gapsOf(form.values)
  return (
    <>
      <Textarea
        label="System prompt"
        description="Instructions before the conversation; {{name}} is a variable."
        autosize
        minRows={3}
        maxRows={12}
        maxLength={20_000}
        {...form.getInputProps('systemPrompt')}
      />
      <Textarea
        label="First message"
        description="Sent as your message when a session starts; may contain variables."
        autosize
        minRows={2}
        maxRows={12}
        maxLength={20_000}
        {...form.getInputProps('initialMessage')}
      />
      {gaps.length > 0 && (
        <Text size="sm">
          Variables, filled in when a session starts:{' '}
          {gaps.map((gap) => (
            <Code key={gap} mr={4}>
              {gap}
            </Code>
          ))}
        </Text>
      )}
    </>
  )
}
