package dev.interlock.spring;

import dev.interlock.internal.Names;
import org.jspecify.annotations.Nullable;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.ExpressionException;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** A name with expressions in it, parsed once, for the calls of one method. */
final class NameTemplate {
    private static final SpelExpressionParser PARSER = new SpelExpressionParser();
    private static final TemplateParserContext TEMPLATE = new TemplateParserContext();
    private static final ParameterNameDiscoverer PARAMETERS = new DefaultParameterNameDiscoverer();

    private final AnnotatedMethod method;
    private final String attribute;
    private final String text;
    private final Expression[] parts;

    private NameTemplate(AnnotatedMethod method, String attribute, String text, Expression... parts) {
        this.method = method;
        this.attribute = attribute;
        this.text = text;
        this.parts = parts;
    }

    static NameTemplate parse(AnnotatedMethod method, String attribute, String text) {
        if (text.isEmpty()) {
            throw method.refusal(attribute + " must not be empty", null);
        }
        boolean whole = text.startsWith("'") || (text.startsWith("#") && !text.startsWith("#{"));
        try {
            Expression parsed = whole ? PARSER.parseExpression(text) : PARSER.parseExpression(text, TEMPLATE);
            return parsed instanceof CompositeStringExpression several
                    ? new NameTemplate(method, attribute, text, several.getExpressions())
                    : new NameTemplate(method, attribute, text, parsed);
        } catch (ExpressionException e) {
            throw method.refusal(
                    attribute + " " + Names.quoted(text) + " isn't understood: " + e.getSimpleMessage(), e);
        }
    }

    /** Returns the name for one call. */
    String of(@Nullable Object bean, @Nullable Object[] arguments) {
        if (parts.length == 1 && parts[0] instanceof LiteralExpression) {
            return text;
        }
        var context =
                new MethodBasedEvaluationContext(bean == null ? method : bean, method.method(), arguments, PARAMETERS);
        context.setBeanResolver(new BeanFactoryResolver(method.beans()));
        var name = new StringBuilder();
        for (Expression part : parts) {
            name.append(valueOf(part, context));
        }
        return name.toString();
    }

    // Orders without an id must not share a lock, which would be found out late.
    private String valueOf(Expression part, EvaluationContext context) {
        try {
            String value = part.getValue(context, String.class);
            if (value != null && !value.isEmpty()) {
                return value;
            }
        } catch (EvaluationException e) {
            throw method.refusal(where(part) + " can't be evaluated: " + e.getSimpleMessage(), e);
        }
        throw method.refusal(where(part) + " must be neither null nor empty", null);
    }

    private String where(Expression part) {
        return attribute + " " + Names.quoted(text) + ": the expression " + Names.quoted(part.getExpressionString());
    }
}
