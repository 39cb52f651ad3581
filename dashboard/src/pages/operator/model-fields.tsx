import {
  Checkbox,
  Fieldset,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Switch,
  TextInput,
} from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { capabilityNames } from '../../models'
import { categories, orEmpty, type Model } from '../../operator/models'

type Amount = number | string

/** What a form has of a model; what is not known is an empty text. */
export interface ModelForm {
  name: string
  upstream_model: string
  category: Model['category']
  context_length: Amount
  max_output_tokens: Amount
  dimensions: Amount
  capabilities: Record<keyof typeof capabilityNames, boolean>
  is_free: boolean
  deprecated_at: string
}

/** A model that is to be made. */
export const newModel: ModelForm = {
  name: '',
  upstream_model: '',
  category: 'chat',
  context_length: '',
  max_output_tokens: '',
  dimensions: '',
  capabilities: {
    vision: false,
    audio: false,
    tools: true,
    reasoning: false,
    streaming: true,
    json_mode: true,
    json_schema: true,
  },
  is_free: false,
  deprecated_at: '',
}

const dateDigits = 10

export const modelFieldsOf = (model: Model): ModelForm => ({
  name: model.name,
  upstream_model: model.upstream_model,
  category: model.category,
  context_length: orEmpty(model.context_length),
  max_output_tokens: orEmpty(model.max_output_tokens),
  dimensions: orEmpty(model.dimensions),
  capabilities: model.capabilities,
  is_free: model.is_free,
  deprecated_at: String(orEmpty(model.deprecated_at)).slice(0, dateDigits),
})

export const useModelForm = (initialValues: ModelForm) => useForm<ModelForm>({ initialValues })

interface Props {
  form: UseFormReturnType<ModelForm>
}

/** What a model is called, and what it can do. */
export const ModelFields = ({ form }: Props) => (
  <>
    <TextInput label="Name" required maxLength={200} {...form.getInputProps('name')} />
    <TextInput
      label="Name at its provider"
      description="What the provider is asked for, where it is not the second part of the id"
      maxLength={256}
      spellCheck={false}
      {...form.getInputProps('upstream_model')}
    />
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <Select
        label="Category"
        allowDeselect={false}
        data={Object.entries(categories).map(([value, label]) => ({ value, label }))}
        {...form.getInputProps('category')}
      />
      <Tokens form={form} name="context_length" label="Context, in tokens" />
      <Tokens form={form} name="max_output_tokens" label="Longest answer, in tokens" />
      {form.values.category === 'embedding' && (
        <Tokens form={form} name="dimensions" label="Numbers of an embedding" />
      )}
      <TextInput
        label="Given up on"
        description="When its provider switches it off"
        type="date"
        inputWrapperOrder={['label', 'input', 'description']}
        {...form.getInputProps('deprecated_at')}
      />
    </SimpleGrid>
    <Fieldset legend="What it can do" variant="unstyled">
      <Group mt={4} gap="md">
        {Object.entries(capabilityNames).map(([name, label]) => (
          <Checkbox
            key={name}
            label={label}
            {...form.getInputProps(`capabilities.${name}`, { type: 'checkbox' })}
          />
        ))}
      </Group>
    </Fieldset>
    <Switch
      label="Free: calls for it cost nothing, whatever its price"
      {...form.getInputProps('is_free', { type: 'checkbox' })}
    />
  </>
)

interface TokensProps extends Props {
  name: 'context_length' | 'max_output_tokens' | 'dimensions'
  label: string
}

const Tokens = ({ form, name, label }: TokensProps) => (
  <NumberInput
    label={label}
    placeholder="Not known"
    min={1}
    allowDecimal={false}
    thousandSeparator
    {...form.getInputProps(name)}
  />
)
