import { Code, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { FormFrame } from '../components/form-frame'
import { ModelInput } from '../components/model-input'
import { useSubmit } from '../submit'
import { namesIn, templates, templatesQuery, type Template } from '../templates'

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

/** Empty fields: absent in a new template, null in an update. */
function toSent(fields: Fields, none: null | undefined): object {
  const texts = Object.entries(fields).map(([name, value]) => [name, value === '' ? none : value])
  return { ...Object.fromEntries(texts), variables: gapsOf(fields) }
}

interface Props {
  /** Undefined for a new template. */
  template?: Template
  onDone: () => void
}

/** Creates or edits a template. */
export function TemplateForm({ template, onDone }: Props) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: fieldsOf(template) })
  const submission = useSubmit(async (fields: Fields) => {
    await (template
      ? templates.change(template.id, toSent(fields, null))
      : templates.create(toSent(fields, undefined)))
    await queries.invalidateQueries(templatesQuery)
    notifications.show({ message: `${fields.name} was ${template ? 'changed' : 'made'}.` })
    onDone()
  }, form)
  return (
    <FormFrame
      form={form}
      submission={submission}
      label={template ? 'Save' : 'Create'}
      onCancel={onDone}
    >
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
    </FormFrame>
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
