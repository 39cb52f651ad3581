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
import { capabilityNames } from '../../models/queries'
import { categories, orEmpty, type Model } from './queries'

type Amount = number | ''

/** The form fields of a model; a missing value is an empty text. */
export interface ModelForm {
  name: string
  upstream_model: string
  category: Model['category']
  context_length: Amount
  max_input_tokens: Amount
  max_output_tokens: Amount
  dimensions: Amount
  capabilities: Record<keyof typeof capabilityNames, boolean>
  is_free: boolean
  deprecated_at: string
}

/** The defaults of a new model. */
export const newModel: ModelForm = {
  name: '',
  upstream_model: '',
  category: 'chat',
  context_length: '',
  max_input_tokens: '',
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
  max_input_tokens: orEmpty(model.max_input_tokens),
  max_output_tokens: orEmpty(model.max_output_tokens),
  dimensions: orEmpty(model.dimensions),
  capabilities: { ...newModel.capabilities, ...model.capabilities },
  is_free: model.is_free,
  deprecated_at: orEmpty(model.deprecated_at).slice(0, dateDigits),
})

export const useModelForm = (initialValues: ModelForm) => useForm<ModelForm>({ initialValues })

interface Props {
  form: UseFormReturnType<ModelForm>
}

/** The names, limits and capabilities of a model. */
export const ModelFields = ({ form }: Props) => (
  <>
    <TextInput label="Name" required maxLength={200} {...form.getInputProps('name')} />
    <TextInput
      label="Provider's model name"
      description="The name sent to the provider, if it differs from the second part of the ID"
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
      <Tokens form={form} name="max_input_tokens" label="Longest prompt, if shorter" />
      <Tokens form={form} name="max_output_tokens" label="Max. output, in tokens" />
      {form.values.category === 'embedding' && (
        <Tokens form={form} name="dimensions" label="Embedding dimensions" />
      )}
      <TextInput
        label="Deprecation date"
        description="When the provider retires it"
        type="date"
        inputWrapperOrder={['label', 'input', 'description']}
        {...form.getInputProps('deprecated_at')}
      />
    </SimpleGrid>
    <Fieldset legend="Capabilities" variant="unstyled">
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
      label="Free: requests cost nothing, regardless of the price"
      {...form.getInputProps('is_free', { type: 'checkbox' })}
    />
  </>
)

interface TokensProps extends Props {
  name: 'context_length' | 'max_input_tokens' | 'max_output_tokens' | 'dimensions'
  label: string
}

const Tokens = ({ form, name, label }: TokensProps) => (
  <NumberInput
    label={label}
    placeholder="Unknown"
    min={1}
    allowDecimal={false}
    thousandSeparator
    {...form.getInputProps(name)}
  />
)
