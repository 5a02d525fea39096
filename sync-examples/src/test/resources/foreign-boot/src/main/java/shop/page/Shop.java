package shop.page;

import java.util.function.Consumer;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** What the page about Spring leaves to its reader. */
@SpringBootApplication
class Shop {
    /** What the methods of the page do: it is told their names. */
    static Consumer<String> work = method -> {};

    record Hit(String text) {}
}
